// The jobs of a cluster over days, and the shape of the cluster: times are seconds since the first submission.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringwright::planning {

// Parts of a GPU are counted in so many: fine enough for thirds, sevenths, and sixteen jobs on a GPU.
inline constexpr int kWholeGpu = 10'000;

struct ClusterJob {
  std::string name;
  double submit = 0.0;
  double service = 0.0;        // running time on the GPUs it asks for, at its best locality
  int gpus = 1;                // that it asks for
  int part = kWholeGpu;        // of its one GPU that it asks for
  int share = kWholeGpu;       // of its GPU that it has; less than all: it shares one GPU with others
  double demand = 1.0;         // part of its GPUs that its kernels take at full speed
  bool opportunistic = false;  // takes what guaranteed jobs leave of a GPU (AntMan, TGS)
  int least = 1;               // GPUs of an elastic job
  int most = 1;
  std::string kind;        // that a log says; names a job of 'speed.machine'
  std::uint32_t type = 0;  // whose speeds it has (JobSpeed)
};

struct ClusterShape {
  int hosts = 1;
  int gpus_per_host = 8;
  int hosts_per_unit = 32;  // on the same leaf switches
  [[nodiscard]] int gpus() const { return hosts * gpus_per_host; }
  [[nodiscard]] int units() const { return (hosts + hosts_per_unit - 1) / hosts_per_unit; }
};

}  // namespace ringwright::planning
