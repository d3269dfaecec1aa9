#include "configs/scenario/interference_settings.h"

#include <array>
#include <string>

namespace ringwright::configs {

InterferenceSettings read_interference(ConfigMap root) {
  static constexpr std::array kModels = {
      Option{"none", "neither slows the other"},
      Option{"share", "kernels and communication share multiprocessors and memory bandwidth"}};
  ConfigMap map = root.map("interference", "how computing and communication on one GPU slow each other");
  InterferenceSettings settings;
  settings.counts = map.choice({.name = "model", .doc = "the model of interference", .fallback = std::string("none")},
                               kModels) == "share";
  if (!settings.counts && !map.documenting()) {
    map.ignore_rest("only 'interference.model: share' uses it");
    return settings;
  }
  settings.sms_per_channel =
      static_cast<int>(map.integer({.name = "sms_per_channel",
                                    .doc = "multiprocessors that one channel's thread block occupies",
                                    .fallback = 1,
                                    .min = 0,
                                    .max = 8}));
  settings.bytes_per_copied = map.number({.name = "memory_bytes_per_copied_byte",
                                          .doc = "device memory traffic per byte that is copied",
                                          .fallback = 2.0, .min = 0.0, .max = 16.0});
  settings.bytes_per_reduced = map.number({.name = "memory_bytes_per_reduced_byte",
                                           .doc = "device memory traffic per byte that is reduced and forwarded",
                                           .fallback = 3.0, .min = 0.0, .max = 16.0});
  settings.streaming_share = map.percent({.name = "streaming_share",
                                          .doc = "share of the multiprocessors that saturates device "
                                                 "memory bandwidth",
                                          .fallback = 0.5, .min = 0.05, .max = 1.0});
  settings.loaded_latency = map.number({.name = "loaded_latency",
                                        .doc = "how many times as long a load takes while kernels saturate device "
                                               "memory bandwidth",
                                        .fallback = 2.4, .min = 1.0, .max = 20.0});
  if (!map.has("streaming_share")) {
    map.assume("streaming_share", "50%", "half of the multiprocessors saturate device memory bandwidth");
  }
  return settings;
}

}  // namespace ringwright::configs
