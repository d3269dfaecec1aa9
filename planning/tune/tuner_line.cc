#include "planning/tune/tuner_line.h"

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

constexpr int kOwnChannels = -1;  // as many as NCCL takes

}  // namespace

std::string tuner_line(configs::CollectiveOperation operation, const TunerCalls& calls, const CallSetting& setting) {
  std::string name(to_string(operation));
  std::erase(name, '_');  // as the plug-in spells it
  return fmt::format("{},{},{},{},{},{},{},{}\n", name, calls.least_bytes, calls.most_bytes,
                     tuner_algorithm(setting.algorithm), setting.protocol,
                     setting.channels > 0 ? setting.channels : kOwnChannels, calls.hosts, calls.ranks);
}

}  // namespace ringwright::planning
