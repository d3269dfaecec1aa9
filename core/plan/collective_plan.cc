#include "core/plan/collective_plan.h"

namespace ringwright {

std::string_view to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl: return "ll";
    case Protocol::kLl128: return "ll128";
    case Protocol::kSimple: return "simple";
  }
  return "?";
}

}  // namespace ringwright
