// A job from ASTRA-sim's own files: the graphs of its ranks, its rules and its network.
#pragma once

#include <memory>
#include <string>

#include "core/base/diagnostic.h"
#include "core/plan/node_job.h"
#include "core/ports/message_network.h"
#include "core/run/astra/job_run.h"

namespace ringwright::configs {

enum class AstraBackend : std::uint8_t { kUnaware, kAware };

// As ASTRA-sim's command line names them.
struct AstraFiles {
  std::string workload;  // prefix
  std::string system;
  std::string network;
  std::string remote_memory;  // empty: none
  std::string groups;         // empty: none
  AstraBackend backend = AstraBackend::kUnaware;
  std::uint32_t queues_per_dimension = 1;
  double injection_scale = 1.0;
  bool rendezvous = false;
  Shortcuts shortcuts = Shortcuts::kYes;
};

struct AstraJob {
  NodeJob job;
  JobRules rules;
  std::unique_ptr<MessageNetworks> networks;
  std::string network_text;  // "Ring 8 x Switch 4"
  Diagnostics warnings;
};

// All mistakes of all files at once, as far as they can be read without each other.
[[nodiscard]] Result<AstraJob> load_astra_job(const AstraFiles& files);

}  // namespace ringwright::configs
