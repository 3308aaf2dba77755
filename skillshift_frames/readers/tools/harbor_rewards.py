"""What a trial of Harbor is worth: its status, its rewards, and whether Harbor 0.26 takes them.

The versions differ here. Before 0.26 a reward counts, whatever went wrong beside it. From 0.26 on every exception has a rule,
and the reward beside some of them is not valid; its files say so of each trial (``reward_valid``), and for older ones the rule
follows from the exceptions that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillshift_frames.readers.tools.values import is_number, text
from skillshift_frames.readers.wording import as_written, snippet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from skillshift_frames.readers.tools.common import Trials

#: What stands for the type of an exception that names none.
UNNAMED = "exception"

#: ``error_type`` of a trial whose ``result.json`` is not there, and of one whose cannot be read.
NO_RESULT, DAMAGED = "no result.json", "damaged result.json"

#: Exceptions beside which a reward is not valid in Harbor 0.26: those of the surroundings, of the model's interface, of the
#: verifier. Beside any other, also one that Harbor does not know, it is: a timeout of the agent, or its exit code.
INVALIDATING = frozenset(
    {
        "EnvironmentStartTimeoutError", "SandboxBuildFailedError", "AgentSetupTimeoutError", "HealthcheckError",
        "SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError", "SSHAccessError", "GKEExecStreamClosedError",
        "GKEPodNotFoundError", "RuntimeRequestError", "AddTestsDirError", "DownloadVerifierDirError",
        "ApiError", "ApiRateLimitError", "ApiInternalServerError", "ApiOverloadedError", "ApiConnectionClosedError",
        "ApiResponseStalledError", "UnknownApiError", "NetworkConnectionError", "ApiConnectionError", "ApiUsageLimitError",
        "RateLimitError", "InternalServerError", "ServiceUnavailableError", "APIConnectionError", "APIError", "Timeout",
        "UnsupportedModelParametersError", "BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError",
        "APIResponseValidationError", "BudgetExceededError", "VerifierTimeoutError", "RewardFileNotFoundError",
        "RewardFileEmptyError", "VerifierOutputParseError", "AgentAuthenticationError", "ModelNotFoundError",
        "ApiProviderResourceNotFoundError", "AuthenticationError", "PermissionDeniedError", "NotFoundError",
        "ServiceOperationsUnsupportedError", "VercelScopeError", "DspyImportError", "MissingExtraError", "RegradeError",
        "CancelledError",
    }
)  # fmt: skip
_WHOLE = 1e-9


class Outcome(NamedTuple):
    """What came of a trial.

    Attributes
    ----------
    status, error
        One of `STATUSES`, by the version that wrote the file; the first exception.
    rewards
        As written, of whatever status.
    valid
        Whether Harbor 0.26 takes them; None where there is none, or an exception names no type.
    """

    status: str
    error: str | None
    rewards: dict[str, Any]
    valid: bool | None

    @property
    def headline(self) -> Any:  # noqa: ANN401 - as written
        """The reward, where there is one of that name or only one."""
        if "reward" in self.rewards:
            return self.rewards["reward"]
        return next(iter(self.rewards.values())) if len(self.rewards) == 1 else None

    def to_row(self) -> dict[str, Any]:
        """Give what `Trials.add` takes of it."""
        reward = self.headline
        return {
            "status": self.status,
            "error_type": self.error,
            "success": succeeded(reward),
            "score": reward,
            "recorded": reward if is_number(reward) else None,
            "valid": self.valid,
            "metrics": {} if set(self.rewards) == {"reward"} else self.rewards,
        }


def outcome_of(
    result: dict[str, Any], steps: Sequence[dict[str, Any]], file: Path, found: Trials
) -> Outcome:
    """Judge a trial by its ``result.json`` and the results of its steps."""
    raised = [_exception(part) for part in (result, *steps)]
    types = [name for name in raised if name]
    error = types[0] if types else None
    verified = result.get("verifier_result")
    given = verified.get("rewards") if isinstance(verified, dict) else None
    if given is not None and not isinstance(given, dict):
        found.problem(
            file,
            f"{snippet(as_written(given))}; an object of numbers is needed",
            "the trial is unscored",
            field="verifier_result.rewards",
            stands=True,
        )
    rewards = {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else {}
    valid = _valid(result, types) if any(map(is_number, rewards.values())) else None
    if result.get("reward_valid") is False and rewards:
        return Outcome("errored", error or "reward not valid", rewards, valid)
    if any(map(is_number, rewards.values())):
        if raised[0] and "reward_valid" not in result:
            found.note(
                "Harbor before 0.26 counts the reward of a trial with an exception; from 0.26 on it depends on the exception"
            )
        return Outcome("scored", error, rewards, valid)
    return Outcome("errored" if error else "unscored", error or "no reward", {}, None)


def _valid(result: dict[str, Any], types: Sequence[str]) -> bool | None:
    said = result.get("reward_valid")
    if isinstance(said, bool):
        return said
    if not INVALIDATING.isdisjoint(types):
        return False
    return None if UNNAMED in types else True


def _exception(part: dict[str, Any]) -> str | None:
    info = part.get("exception_info")
    if info is None:
        return None
    return (text(info.get("exception_type")) if isinstance(info, dict) else None) or UNNAMED


def succeeded(reward: object) -> bool | None:
    """Tell whether a reward is that of a task done: all of it; half of it is not. Other scales do not say."""
    if (
        not isinstance(reward, int | float)
        or isinstance(reward, bool)
        or not 0 <= reward <= 1 + _WHOLE
    ):
        return None
    return reward >= 1 - _WHOLE
