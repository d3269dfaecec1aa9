#include "configs/scenario/interference_settings.h"

#include <array>
#include <string>

namespace ringwright::configs {

InterferenceSettings read_interference(ConfigMap root) {
  static constexpr std::array kModels = {
      Option{"none", "neither slows the other"},
      Option{"share", "kernels and communication share multiprocessors and memory bandwidth"}};
  ConfigMap map = root.map("interference", "what computing and communication on one GPU take from each other");
  InterferenceSettings settings;
  settings.counts = map.choice({.name = "model", .doc = "the rung of the ladder", .fallback = std::string("none")},
                               kModels) == "share";
  if (!settings.counts && !map.documenting()) {
    map.ignore_rest("only 'interference.model: share' looks at it");
    return settings;
  }
  settings.sms_per_channel =
      static_cast<int>(map.integer({.name = "sms_per_channel",
                                    .doc = "multiprocessors that one channel's thread block keeps",
                                    .fallback = 1,
                                    .min = 0,
                                    .max = 8}));
  settings.bytes_per_copied = map.number({.name = "memory_bytes_per_copied_byte",
                                          .doc = "device memory that passing on one byte takes",
                                          .fallback = 2.0, .min = 0.0, .max = 16.0});
  settings.bytes_per_reduced = map.number({.name = "memory_bytes_per_reduced_byte",
                                           .doc = "device memory that adding and passing on one byte takes",
                                           .fallback = 3.0, .min = 0.0, .max = 16.0});
  settings.streaming_share = map.percent({.name = "streaming_share",
                                          .doc = "share of the multiprocessors that suffices to draw all of device "
                                                 "memory's bandwidth",
                                          .fallback = 0.5, .min = 0.05, .max = 1.0});
  if (!map.has("streaming_share")) {
    map.assume("streaming_share", "50%", "half of the multiprocessors fill device memory's bandwidth");
  }
  return settings;
}

}  // namespace ringwright::configs
