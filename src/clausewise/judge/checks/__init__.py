"""The checks, one module per page of the specification; found automatically.

To add one:

1. Write a function `(event, session, out)` under `@check("area.slug", on=…, subject=…)` in the
   module of its page. Its docstring says what is wrong when it finds something, then `Why:` and
   `Fix:`. It books each occasion with `out.held`, `out.broke` or `out.undecided`; further events
   are handled by functions under `@the_check.on(…)`.
2. Name it in the `checks` of its clauses in the registry.
3. Show in `tests/cases/area/slug.md` a case that breaks it and one that keeps it.

What a check must remember of a session is `session.state(SomeDataclass)`, of the whole recording
`session.recording.state(SomeDataclass)`; both need a bound. Facts that several checks need belong
to `judge.sessions` and `judge.handshake`.
"""
