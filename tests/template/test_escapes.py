"""The published ways out of a Jinja sandbox lead nowhere, and what would never end does."""

from __future__ import annotations

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.template import limits
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

pytestmark = pytest.mark.fuzz("Jinja")

ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__']['__mro__'] }}",
    "{{ ''|attr('__class__')|attr('__mro__') }}",
    "{{ ''|attr('__cl' ~ 'ass__')|attr('__mro__') }}",
    "{{ ''|attr(['__', 'class', '__']|join) }}",
    "{{ ''|attr('\\x5f\\x5fclass\\x5f\\x5f') }}",
    "{{ ''['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ ''|attr('%c%cclass%c%c' % (95, 95, 95, 95)) }}",
    "{{ ['']|map(attribute='__class__.__mro__')|join }}",
    "{{ ['']|map('attr', '__class__')|map('attr', '__mro__')|join }}",
    "{{ ['']|sum(attribute='__class__.__base__') }}",
    "{{ ['']|groupby('__class__.__mro__')|first|first|upper }}",
    "{{ '{0.__class__.__mro__}'.format('') }}",
    "{{ '{a.__class__}'.format_map({'a': ''}) }}",
    "{{ '{0[__class__]}'.format('') }}",
    "{% set f = '{0.__class__}'.format %}{{ f('') }}",
    "{% set f = {'f': '{0.__class__}'.format} %}{{ f.f('') }}",
    "{{ ('{0.__class__}'|attr('format'))('') }}",
    "{{ ('{0.__class__}'|string)['format']('') }}",
    "{{ '%(a.__class__)s' % {'a': ''} }}",
    "{{ ''.format.__self__ }}",
    "{{ [].append.__self__.__class__ }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__.os }}",
    "{{ namespace.__init__.__globals__.os }}",
    "{{ namespace(x=1)._Namespace__attrs }}",
    "{{ cycler('a').__init__ }}",
    "{{ dict.__mro__ }}",
    "{{ range.__class__.__subclasses__() }}",
    "{{ self._TemplateReference__context.cycler.__init__.__globals__.os }}",
    "{{ self.__init__.__globals__ }}",
    "{{ request.application.__globals__.__builtins__.__import__('os') }}",
    "{{ url_for.__globals__ }}",
    "{{ get_flashed_messages.__globals__ }}",
    "{{ config.__class__.__init__.__globals__['os'] }}",
    "{{ config._set.__self__ }}",
    "{{ ref.__self__._rendering._library }}",
    "{{ ref.__func__.__globals__ }}",
    "{{ ref('a').__class__.__init__ }}",
    "{{ target.__class__ }}",
    "{{ this.__reduce__() }}",
    "{{ is_full_refresh.__class__.__call__.__globals__ }}",
    "{{ exceptions.raise_compiler_error.__globals__ }}",
    "{{ adapter._rendering._library }}",
    "{{ adapter.dispatch.__globals__ }}",
    "{{ builtins.ref.__self__ }}",
    "{{ builtins.config._set }}",
    "{{ model.config._values }}",
    "{{ fromyaml('!!python/object/apply:os.system [id]') }}",
    "{{ print.__func__ }}",
    "{{ nothing.__class__.__init__.__globals__ }}",
    "{{ nothing._undefined_exception }}",
    "{% macro m() %}{% endmacro %}{{ m._func.__globals__ }}",
    "{% macro m() %}{{ caller._func.__globals__ }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% macro m() %}{{ varargs.__class__ }}{% endmacro %}{{ m() }}",
    "{% for i in [1] %}{{ loop._iterator }}{% endfor %}",
    "{% for i in [1] %}{{ loop.__init__.__globals__ }}{% endfor %}",
    "{{ (['a']|map('upper')).gi_frame.f_globals }}",
    "{{ ([1]|select('odd')).gi_code }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as o %}",
    "{% from 'os' import popen %}",
    "{% extends '/etc/passwd' %}",
    "{% debug %}",
    "{{ env_var.__globals__ }}",
    "{{ environment.loader }}",
    "{{ [1]|random }}",
]
ENDLESS = [
    "{{ range(10**10) }}",
    "{{ 'a' * 10**10 }}",
    "{{ [0] * 10**9 }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '{:1000000000}'.format(1) }}",
    "{{ '{0:{0}}'.format(10**9) }}",
    "{{ ('{:9999}' * 9999).format(*range(9999)) }}",
    "{{ 9 ** 99999999 }}",
    "{{ ('a b ' * 2000000) | title }}",
    "{{ ('a b ' * 2000000) | urlize }}",
    "{{ ('a b ' * 2000000) | wordwrap(1) }}",
    "{{ ([1] * 9999999) | batch(1) | list | length }}",
    "{{ ([1] * 9999999) | sort | length }}",
    "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "{% set x = 'a' * 9999999 %}{% for i in range(99999) %}{% set y = x | upper %}{% endfor %}",
    "{% set x = 'a' * 9999999 %}{% for i in range(99999) %}{% set y = x.upper() %}{% endfor %}",
    "{% set x = range(99999) | list %}{% for i in range(99999) %}{% set y = x | unique | list %}{% endfor %}",
    "{% set x = range(99999) | list %}{% for i in range(99999) %}{% if -1 in x %}{% endif %}{% endfor %}",
    "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    "{% for i in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "{% set l = [1] %}{% for i in l %}{% do l.append(1) %}{% endfor %}",
    "{% set n = namespace(l=[]) %}{% for i in range(99999) %}{% set n.l = [n.l] %}{% endfor %}{{ n.l }}",
    *(
        "{% set n = namespace(l=1, m=1) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% set n.m = [n.m, n.m] %}{% endfor %}" + end
        for end in ("{{ n.l == n.m }}", "{{ n.l | literal }}", "{{ log(n.l) }}", "{{ config(meta=n.l) }}", "{{ [n.l] | sort }}")
    ),
    "{% set l = [1] %}" + "".join(f"{{% set m{n} = [] %}}{{% do m{n}.append(l) %}}{{% do m{n}.append(l) %}}{{% set l = m{n} %}}" for n in range(60)) + "{{ log(l) }}",
    "{% set a = [[1] * 99999] * 99 %}{% set b = [[1] * 99999] * 99 %}{{ [a] * 999 == [b] * 999 }}",
]  # fmt: skip


@pytest.mark.parametrize("text", ESCAPES)
def test_an_escape_leads_nowhere(context, text):
    with pytest.raises(ProblemsError) as caught:
        Templates([]).render(SourceText("models/m.sql", text), context)
    for problem in caught.value.problems:
        assert problem.place is not None
        assert (problem.place.path, problem.place.line) == ("models/m.sql", 1)
        assert problem.code in ("jinja-runtime", "undefined-name", "jinja-syntax", "unknown-ref", "raised")


@pytest.mark.parametrize("text", ENDLESS)
def test_what_never_ends_is_ended_where_it_stands(context, monkeypatch, text):
    monkeypatch.setattr(limits, "MAX_SECONDS", 2.0)
    with pytest.raises(ProblemsError) as caught:
        Templates([]).render(SourceText("models/m.sql", text), context)
    (problem,) = caught.value.problems
    assert problem.code in ("render-limit", "recursion"), problem
    assert (problem.place.path, problem.place.line) == ("models/m.sql", 1)
