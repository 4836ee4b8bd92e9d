"""The command `hardbot`: wires everything together.

Command groups live in `hardbot/commands`, one file an area; each imports what it needs inside its
commands, so that `hardbot --help` stays fast. Foreseen errors, wrong usage among them, become one
line on stderr and exit code 2; anything else one line and exit code 1 (HARDBOT_TRACEBACK=1 shows
where it came from).
"""

from __future__ import annotations

import os
import shlex
import sys
from typing import NoReturn

import typer

from hardbot.commands import AREAS
from hardbot.errors import HardBotError

# typer carries its own copy of click; the root of its usage errors has no public name.
_CLICK_ERROR: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="hardbot",
    help="Limit Texas hold'em: exact hand features, opponent models from hand histories, bots and honest matches.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for register in AREAS:
    register(app)


def main() -> None:
    """Run the command line; one line on stderr for every error."""
    try:
        code = app(prog_name="hardbot", standalone_mode=False)
    except HardBotError as error:
        _fail(str(error))
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        _fail(f"{error.filename or 'file'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except Exception as error:
        code = _exit_code(error)
    if code == 130:
        print("hardbot: interrupted", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def _exit_code(error: Exception) -> int:
    """Say what went wrong, unless it is only the help page of a bare `hardbot`."""
    if isinstance(error, _CLICK_ERROR):
        message = str(getattr(error, "format_message", error.__str__)())
        if not message.strip() or type(error).__name__ == "NoArgsIsHelpError":
            return 2
        _fail(f"{message} (got '{shlex.join(['hardbot', *sys.argv[1:]])}', see {_command_path(error)} --help)")
    if not os.environ.get("HARDBOT_TRACEBACK"):
        _fail(f"unforeseen {type(error).__name__}: {error} (HARDBOT_TRACEBACK=1 shows where)", code=1)
    raise error


def _command_path(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return str(context.command_path) if context is not None else "hardbot"


def _fail(message: str, code: int = 2) -> NoReturn:
    print(f"hardbot: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
