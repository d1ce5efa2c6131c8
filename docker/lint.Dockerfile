# Lints a project, without Spark; nothing is written into it:
#   make package && docker build -f docker/lint.Dockerfile -t merge-runner:lint .
#   docker run --rm -v "$PWD:/project" merge-runner:lint
FROM python:3.12-slim-bookworm
RUN useradd --create-home --uid 1000 merge-runner
RUN --mount=type=bind,source=dist,target=/dist \
    python -m pip install --no-cache-dir --root-user-action=ignore /dist/*.whl
USER 1000:1000
WORKDIR /project
ENTRYPOINT ["merge-runner"]
CMD ["lint"]
