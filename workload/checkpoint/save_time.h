// How long a checkpoint takes, and how much of it training feels, in closed form.
//
//   write        max over what runs at once: a rank's bytes over its copies to host memory, over its serialising and
//                over its writing, a host's bytes over its rate, all bytes over the store's (TorchSnapshot's pipeline);
//                and before and after that what bytes do not explain: the plan of who writes what, metadata, commit
//   two phases   training waits for the copy to host memory, less what the next passes hide of it; the rest is written
//                meanwhile (CheckFreq, FAST 2021; MegaScale, NSDI 2024)
//   in peers     (copies - 1) x bytes of a rank over its NIC (GEMINI, SOSP 2023); nothing is felt while that is at
//                most what the NIC could carry in its idle time of the interval, else the rest at the NIC's rate
//   parity       of a group of k + r hosts: each rank sends r x its bytes to the parts of other hosts' stripes and
//                encodes as many, holds 1 + r / k of its state, and a lost host reads k times what it held (RAID 5 over
//                hosts; the repair of Reed-Solomon codes)
//   period       of one version after another, k steps apart: max(k x step + stall, slowest flush of a level), since a
//                level takes the next version once it has passed on the last one (VeloC, IPDPS 2019)
//   incremental  each version has this share of the state (Chen et al., ICCD 2023)
//   CheckFreq    the interval k is the smallest with stall / (k x step) <= budget
#pragma once

#include <cstdint>
#include <span>

#include "core/base/units.h"

namespace ringwright::workload {

// Rates of 0 do not limit.
struct SavePath {
  Bandwidth snapshot;   // of a rank, from the GPU to host memory
  Bandwidth serialise;  // of a rank's process
  Bandwidth per_rank;
  Bandwidth per_host;
  Bandwidth store;
  Duration overhead = {};  // of each save, besides its bytes
};

struct SaveSize {
  Bytes total;
  Bytes rank;
  std::int64_t ranks_per_host = 8;
};

[[nodiscard]] Duration write_time(const SaveSize& size, const SavePath& path);

// What training feels of a snapshot at this rate per rank, of which `hidden` passes meanwhile.
[[nodiscard]] Duration snapshot_stall(Bytes rank, Bandwidth rate, Duration hidden);

struct PeerCopies {
  Bytes rank;  // bytes of a rank's state
  std::int64_t copies = 2;
  Bandwidth nic;
  Duration idle;  // of the NIC, in the time between two checkpoints
};
// What training feels of copies in the NIC's idle time; with no idle time, of blocking copies.
[[nodiscard]] Duration peer_copy_stall(const PeerCopies& copies);

// Of a group of hosts whose states share parity.
struct ParityGroup {
  Bytes rank;  // bytes of a rank's state
  std::int64_t hosts = 4;
  std::int64_t parity = 1;
};
// What a rank's share of the host's memory holds.
[[nodiscard]] Bytes parity_held(const ParityGroup& group);
// What a rank of a lost host reads from others.
[[nodiscard]] Bytes parity_repair(const ParityGroup& group);

// What a version that saves `share` of the state has of these bytes, rounded up.
[[nodiscard]] Bytes incremental(Bytes state, double share);

// Of checkpoints that are flushed through levels while training goes on.
struct Flushes {
  Duration steps;  // of training, between two checkpoints, without stalls
  Duration stall;  // of each, besides waiting for levels
  std::span<const Duration> levels;  // until each has passed on a version
};
// From one checkpoint to the next in the steady state.
[[nodiscard]] Duration checkpoint_period(const Flushes& flushes);

[[nodiscard]] std::int64_t checkfreq_interval(Duration stall, Duration step, double budget);

}  // namespace ringwright::workload
