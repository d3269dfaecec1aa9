// A host as printed by tools - NCCL's topology XML, the matrix of `nvidia-smi topo -m` - as keys of `cluster.node`:
// facts of the file, and guesses for what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"

namespace ringwright::network_models {

// The content of such files. Counts and positions are facts; a number that the file leaves out is 0 or empty.
struct ImportedNode {
  struct Gpu {
    int point = 0;  // its PCIe switch, or its socket where there are no switches
    int sm = 0;     // compute capability, 90 for 9.0
  };
  struct Nic {
    int point = 0;
    double gbps = 0.0;
    std::string name;
  };
  struct Lanes {
    int a = 0;
    int b = 0;
    int lanes = 0;
  };

  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::vector<Lanes> mesh;
  int switch_lanes = 0;   // of each GPU to NVSwitches
  double lane_gb = 0.0;   // raw, one direction
  bool states_links = false;  // GPUs without lanes have none; otherwise the file leaves NVLink out
  bool amd = false;
  bool c2c = false;
  double pcie_gb = 0.0;   // raw, of a GPU's slot
  int switches = 0;       // numbered socket by socket, the same number on each
  int sockets = 1;
  std::string processor;  // as in cluster.node.pcie.processor
  double socket_gb = 0.0;
  std::string socket_source;
  std::vector<std::string> notes;  // what was ignored or changed
};

// Facts override presets; guesses are for nodes without a preset. `file` is named as the source.
[[nodiscard]] ImportedText node_text(const ImportedNode& node, const std::string& file);

[[nodiscard]] Result<ImportedText> import_nccl_topology(const InputFile& file);
[[nodiscard]] Result<ImportedText> import_smi_topology(const InputFile& file);
// `cluster.node.nccl_topo` and `cluster.node.nvidia_smi_topo`.
[[nodiscard]] std::vector<ImportRule> node_imports();

// The same for texts in memory; `name` appears in messages.
[[nodiscard]] Result<ImportedNode> parse_nccl_topology(const std::string& text, const std::string& name);
[[nodiscard]] Result<ImportedNode> parse_smi_topology(const std::string& text, const std::string& name);

}  // namespace ringwright::network_models
