"""Scripts that use all that the reference server has."""

from __future__ import annotations

from clausewise.core.vocabulary import Era
from clausewise.reference.client.script.reading import parse_script

ANSWERS = """
[answers]
url = "accept"
roots = [{ uri = "file:///srv/project", name = "project" }]

[answers.form]
action = "accept"
content = { name = "Ada", title = "All of it", email = "ada@example.com" }

[answers.sampling]
text = "Forty-two."
models = ["scripted-large", "scripted-small"]
tool = "add"
input = { a = 1, b = 2 }
"""

BOTH_ERAS = """
[[step]]
do = "list"
what = "tools"
present = ["/result/tools/9"]

[[step]]
do = "list"
what = "prompts"

[[step]]
do = "list"
what = "resources"

[[step]]
do = "list"
what = "templates"

[[step]]
do = "call"
tool = "echo"
arguments = { text = "héllo" }
expect = { "/result/content/0/text" = "héllo" }

[[step]]
do = "call"
tool = "add"
arguments = { a = 2, b = 3 }
expect = { "/result/structuredContent/sum" = 5 }

[[step]]
do = "call"
tool = "fail"
expect = { "/result/isError" = true }

[[step]]
do = "call"
name = "one"
tool = "count_slowly"
arguments = { steps = 10, delayMs = 20 }
background = true
progress = true

[[step]]
do = "call"
name = "other"
tool = "count_slowly"
arguments = { steps = 5, delayMs = 20 }
background = true
progress = true

[[step]]
do = "await"
of = "one"
present = ["/result/content/0/text"]

[[step]]
do = "await"
of = "other"
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "greet_user"
expect = { "/result/content/0/text" = "Hello, Ada!" }

[[step]]
do = "call"
tool = "collect_profile"
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "visit_page"
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "ask_model"
arguments = { question = "What is the answer?" }
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "ask_model_with_tools"
arguments = { question = "What is one and two?" }
expect = { "/result/content/0/text" = "scripted-large answered: Forty-two." }
absent = ["/result/isError"]

[[step]]
do = "call"
tool = "list_roots"
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "query_region"
arguments = { region = " nord é ", limit = 3, query = "q" }
present = ["/result/content/0/text"]

[[step]]
do = "call"
tool = "no_such_tool"
expect = { "/error/code" = -32602 }

[[step]]
do = "read"
uri = "reference://texts/welcome"
present = ["/result/contents/0/text"]

[[step]]
do = "get"
prompt = "greet"
arguments = { name = "Ada" }

[[step]]
do = "complete"
prompt = "greet"
argument = "name"
value = ""

[[step]]
do = "call"
name = "slow"
tool = "count_slowly"
arguments = { steps = 1000, delayMs = 50 }
background = true
progress = true

[[step]]
do = "wait"
notification = "notifications/progress"
count = 16
within = 5.0

[[step]]
do = "cancel"
of = "slow"
reason = "seen enough"
expect = { "/cancelled" = true }

[[step]]
do = "await"
of = "slow"
expect = { "/fault" = "cancelled by the client" }
"""

LEGACY_ONLY = """
[[step]]
do = "ping"
expect = { "/result" = {} }

[[step]]
do = "set-level"
level = "debug"

[[step]]
do = "answer"
roots = [{ uri = "file:///srv/other" }]

[[step]]
do = "call"
tool = "list_roots"
present = ["/result/content/0/text"]

[[step]]
do = "answer"
sampling = { refuse = true, tool = "add" }

[[step]]
do = "call"
tool = "ask_model"
arguments = { question = "What is the answer?" }
present = ["/error"]

[[step]]
do = "subscribe"
uri = "reference://counter"

[[step]]
do = "call"
tool = "touch_counter"

[[step]]
do = "wait"
notification = "notifications/resources/updated"
within = 5.0

[[step]]
do = "unsubscribe"
uri = "reference://counter"

[[step]]
do = "call"
name = "report"
tool = "compile_report"
task = { ttl = 60000 }
present = ["/result/task/taskId"]

[[step]]
do = "await"
of = "report"
present = ["/result/content/0/text"]

[[step]]
do = "list"
what = "tasks"
present = ["/result/tasks/0"]

[[step]]
do = "ping"

[[step]]
do = "ping"
"""


MODERN_ONLY = """
[[step]]
do = "listen"
name = "changes"
tools = true
uris = ["reference://counter"]
present = ["/acknowledged/toolsListChanged"]

[[step]]
do = "call"
tool = "touch_counter"

[[step]]
do = "wait"
notification = "notifications/resources/updated"
within = 5.0

[[step]]
do = "stop"
of = "changes"
expect = { "/cancelled" = true }
"""

SCRIPTS = {
    Era.LEGACY: parse_script(ANSWERS + BOTH_ERAS + LEGACY_ONLY),
    Era.MODERN: parse_script(ANSWERS + BOTH_ERAS + MODERN_ONLY),
}
