"""What loading a project depends on besides the environment: its files now, and what the invocation says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from merge_runner.contributions import key, tool
from merge_runner.lazy_dataclass import dataclass
from merge_runner.plan.load.flags import Flags
from merge_runner.project.load.state import ProjectState, profiles_outside
from merge_runner.project.syntax.environment import RecordingEnv

FOLDER = "project_cache"
"""The folder of what is kept of loaded projects, in the target folder."""
_HOMES = ("HOME", "USERPROFILE")
"""Where profiles.yml may be; the path of a project may begin with it."""


@dataclass(frozen=True)
class LoadedState:
    """The state of the files, and a key of everything else."""

    state: ProjectState
    key: bytes

    @classmethod
    def of(
        cls, root: Path, flags: Flags, env: Mapping[str, str], state: ProjectState | None = None
    ) -> LoadedState | None:
        """Return what an invocation loads; None: its files cannot be read.

        `state` is taken where it is of the same files.
        """
        whole = env.whole if isinstance(env, RecordingEnv) else env
        profiles = profiles_outside(whole, flags.profiles_dir)
        if state is None or not state.is_of(root, flags.target_path, [profiles]):
            state = ProjectState.of(root, flags.target_path, [profiles])
        if state is None:
            return None
        about = key(
            tool(), str(root), flags.profile, flags.target, flags.profiles_dir, dict(flags.vars), flags.target_path
        )
        return cls(state, key(about, flags.full_refresh))

    @property
    def folder(self) -> Path:
        """The folder of what is kept."""
        return self.state.root / self.state.target / FOLDER

    @property
    def unchanged(self) -> bool:
        """Whether no file has changed since the state was read."""
        now = self.state.again()
        return now is not None and now.digest == self.state.digest

    def answers(self, values: Mapping[str, str | None]) -> bytes:
        """Return one hash of environment variables: some are secrets, and a hash of one alone would give it away."""
        return key(self.key, sorted(values.items()))


def holds_value(content: str | bytes, asked: Mapping[str, str | None]) -> bool:
    """Return whether what is to be kept has the value of an environment variable that was asked for."""
    said = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    values = {value for name, value in asked.items() if value and name not in _HOMES}
    return any(value.encode("utf-8", "surrogatepass") in said for value in values)
