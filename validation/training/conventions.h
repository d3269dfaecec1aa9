// The conventions behind tables of training runs: which software stack each source used, which shipped presets
// represent the GPUs and models that tables name, and how well each source must be met. Read from conventions.yaml and,
// for what words in tables mean, words.yaml.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/training/vocabulary.h"
#include "validation/training/word_rule.h"

namespace ringwright::validation {

// Of rules for one thing, the first that fits holds.
struct MachineRule : WordRule {
  std::string node;  // preset
  std::string gpu;   // preset
  int host = 0;      // GPUs of a host to which the rule is limited; 0: any number
  int domain = 0;    // GPUs that NVLink can join beyond one host (72: a rack); 0: one host
  int tray = 1;      // GPUs of the smallest unit of a domain
  int cards = 1;     // network cards of a tray
  int sockets = 1;   // CPU sockets of a tray
};

// The rate of network cards with a transport other than RDMA.
struct NicRule : WordRule {
  double host_gbps = 0.0;  // of all cards of a host together, in one direction
};

// What moves messages between hosts.
struct TransportRule : WordRule {
  std::string transport;  // a value of cluster.node.nic.transport
};

struct ModelRule : WordRule {
  std::string preset;
  bool learned_positions = false;  // the preset has a table of positions, as long as the sequence
  std::vector<Setting> set;        // what else differs from the preset: "mtp_num_layers=0"
  std::string refused;             // why such a model cannot be simulated; empty: it can
};

struct StackRule : WordRule {
  std::string stack;  // file with settings that rows of this software do not state
};

// How a framework runs FSDP, in rows that use it.
struct FsdpRule : WordRule {
  std::vector<Setting> set;           // of the scenario
  std::vector<Setting> set_pipeline;  // in addition, where there are several pipeline stages
};

enum class MemoryMeaning {
  kAllocated,  // tensors only: torch.cuda.max_memory_allocated
  kReserved,   // including the allocator's cache: torch.cuda.max_memory_reserved
  kDevice,     // everything: nvidia-smi
};

// Differences in rows whose `where`, `notes` or `schedule` contain the words: another version of the software.
struct VersionRule : WordRule {
  std::string stack;            // empty: the source's
  bool tensor_overlap = false;  // tensor-parallel exchanges overlap GEMMs in rows that do not state it
};

struct SourceRule {
  std::string name;                 // id prefix of its rows
  std::vector<std::string> models;  // words that the model must contain; none: any
  std::string title;
  std::string stack;  // empty: by framework
  MemoryMeaning memory = MemoryMeaning::kReserved;
  double gib_per_unit = 1.0;          // GB printed as such: 1e9 / 2^30
  bool flops_with_recompute = false;  // tflops_gpu counts recomputation
  int most_gpus = 0;                  // rows of more are left out of the whole shipped set; 0: none
  double target = 0.0;                // mean |error| of time to reach; 0: none
  std::string uneven_layers;          // stage_layers of rows whose layers do not divide; empty: more in the middle
  std::int64_t heads = 0;             // of the attention, in rows that do not state it; 0: of size 128
  double target_tau = 0.0;            // rank correlation inside sweeps to reach; 0: none
  double memory_target = 0.0;         // mean |error| of memory to reach; 0: none
  std::optional<double> threshold;    // mean |error| that must hold
  std::string recompute;              // of its rows, whatever their column states; empty: from the column
  std::vector<std::string> causes;    // of errors, where a target is missed
  std::vector<std::string> remarks;   // findings about its rows
  std::vector<VersionRule> versions;

  // The key of scores: the name, and the models' words where there are some.
  [[nodiscard]] std::string key() const;
  [[nodiscard]] const VersionRule* version_of(std::string_view words) const;
};

struct TrainingConventions {
  std::string folder;  // of the stacks' files
  std::vector<SourceRule> sources;
  std::vector<StackRule> frameworks;
  std::vector<FsdpRule> fsdp;
  std::vector<MachineRule> machines;
  std::vector<NicRule> nics;
  std::vector<TransportRule> transports;
  std::vector<ModelRule> models;
  Vocabulary vocabulary;

  [[nodiscard]] const SourceRule* find_source(std::string_view key) const;
  // Frameworks with a stack, by the words that decide: "MaxText, NeMo, Megatron Bridge".
  [[nodiscard]] std::string known_frameworks() const;
  // The first rule for rows of that name and model.
  [[nodiscard]] const SourceRule* find_source(std::string_view name, std::string_view model) const;
};

// Of a row whose source has no stack of its own.
[[nodiscard]] std::string why_unknown_framework(const std::string& framework);

// Reads <folder>/conventions.yaml and <folder>/words.yaml.
[[nodiscard]] Result<TrainingConventions> read_conventions(const std::string& folder);

}  // namespace ringwright::validation
