#include "collectives/msccl/plan_actions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringwright::collectives {
namespace {

constexpr std::array kPlanActions = {
    PlanAction{.name = "nop"},
    PlanAction{.name = "barrier", .barrier = true},
    PlanAction{.name = "copy"},
    PlanAction{.name = "re", .adds = true},
    PlanAction{.name = "put"},
    PlanAction{.name = "pws", .signals = true},
    PlanAction{.name = "pwsf", .signals = true},
    PlanAction{.name = "get"},
    PlanAction{.name = "rre", .adds = true},
    PlanAction{.name = "rres", .adds = true},
    PlanAction{.name = "res", .adds = true},
    PlanAction{.name = "cpkt", .packets_to = 0},
    PlanAction{.name = "upkt", .packets_from = 0},
    PlanAction{.name = "ppkt", .packets_to = 0},
    PlanAction{.name = "rppkt", .packets_from = 0, .packets_to = 0},
    PlanAction{.name = "repkt", .adds = true, .packets_from = 1},
    PlanAction{.name = "recpkt", .adds = true, .packets_from = 1, .packets_to = 1},
    PlanAction{.name = "respkt", .adds = true, .packets_from = 1, .packets_to = 1},
    PlanAction{.name = "recspkt", .adds = true, .packets_from = 1, .packets_to = 1},
    PlanAction{.name = "signal", .signals = true},
    PlanAction{.name = "rlxsignal", .signals = true},
    PlanAction{.name = "wait", .waits = true},
    PlanAction{.name = "rlxwait", .waits = true},
    PlanAction{.name = "flush"},
    PlanAction{.name = "sem_acquire", .acquires = true},
    PlanAction{.name = "sem_release", .releases = true},
};

// Known to MSCCL++, but not simulated here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNotPlayed = {{
    {"glres", "needs NVSwitch (switch channels), which is not simulated from plans"},
    {"gstore", "needs NVSwitch (switch channels), which is not simulated from plans"},
    {"gstorepkt", "needs NVSwitch (switch channels), which is not simulated from plans"},
    {"pipeline", "loops over parts of a chunk, which is not simulated"},
}};

}  // namespace

const PlanAction* find_plan_action(std::string_view name) {
  const auto found = std::ranges::find(kPlanActions, name, &PlanAction::name);
  return found == kPlanActions.end() ? nullptr : &*found;
}

std::string_view why_no_plan_action(std::string_view name) {
  for (const auto& [known, why] : kNotPlayed) {
    if (name == known) return why;
  }
  return "is not an operation of MSCCL++";
}

}  // namespace ringwright::collectives
