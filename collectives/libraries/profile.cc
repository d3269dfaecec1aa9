// The table of libraries. Where a rule has a source, it is named; costs of software are planning values (assumed).
#include "collectives/libraries/profile.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace ringwright::collectives {
namespace {

using namespace ringwright::literals;
using Kind = CollectiveKind;

// Gloo's functions for each collective (facebookincubator/gloo: allreduce.cc, allgather.cc, reduce_scatter.h,
// alltoall.cc, broadcast.cc). Buffers of GPUs are copied to host memory and back (PyTorch's ProcessGroupGloo).
constexpr std::array kGlooRules = {
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "ring", .staged = true},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "ring", .staged = true},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "halving_doubling", .staged = true},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "ring", .staged = true},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "direct", .staged = true},
    AlgorithmRule{.kind = Kind::kBroadcast, .algorithm = "binomial", .staged = true},
    AlgorithmRule{.kind = Kind::kReduce, .algorithm = "ring", .staged = true}};

// oneCCL on GPUs: `topo`, a scale-up phase inside hosts and a scale-out ring between them (oneCCL's environment
// variables, 2021.15; selector_allreduce.cpp). Broadcasts up to 8 KiB are double trees (CCL_BCAST_SHORT_MSG_SIZE);
// larger ones take the ring, since a root that sends to all one by one is not an algorithm here.
constexpr std::array kOneCclRules = {
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "direct"},
    AlgorithmRule{.kind = Kind::kBroadcast, .up_to = Bytes(8192), .algorithm = "double_tree"},
    AlgorithmRule{.kind = Kind::kBroadcast, .algorithm = "scatter_ring"},
    AlgorithmRule{.kind = Kind::kReduce, .algorithm = "double_tree"}};

// MSCCL++ inside a host (microsoft/mscclpp, apps/nccl): all-pairs with packets in one phase up to 16 KiB and in two up
// to 1 MiB, beyond it in the NVSwitches where they reduce, else all-pairs in two phases. Between hosts it calls NCCL.
constexpr std::array kMscclppRules = {
    AlgorithmRule{
        .kind = Kind::kAllReduce, .up_to = Bytes(16 << 10), .algorithm = "all_pairs_once", .hosts = RuleHosts::kOne},
    AlgorithmRule{
        .kind = Kind::kAllReduce, .up_to = Bytes(1 << 20), .algorithm = "all_pairs", .hosts = RuleHosts::kOne},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "in_switch", .hosts = RuleHosts::kOne},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "all_pairs", .hosts = RuleHosts::kOne},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "direct", .hosts = RuleHosts::kOne},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "direct", .hosts = RuleHosts::kOne}};

// AdapCC replaces all-reduces by its trees (Zhao et al., ICDCS 2024); other collectives remain NCCL's.
constexpr std::array kAdapCcRules = {AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "adaptive_trees"}};

// Libraries of hierarchical collectives: inside hosts, then across hosts on every rail (Weingram et al., "xCCL: a
// survey of industry-led collective communication libraries for deep learning", JCST 2023).
constexpr std::array kHierarchicalRules = {
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "pairwise"}};

// ACCL: reduce-scatter inside hosts, halving and doubling between them, all-gather inside (Dong et al., "ACCL:
// architecting highly scalable distributed training systems with highly efficient collective communication library",
// IEEE Micro 2021). HCCL between servers: halving and doubling where their number is a power of two, else rings
// (HCCL_ALGO, level1 of CANN's documentation).
constexpr std::array kHybridRules = {
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "hybrid"},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllReduce, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "hybrid"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllGather, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "hybrid"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kReduceScatter, .algorithm = "ring"},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "hierarchical"},
    AlgorithmRule{.kind = Kind::kAllToAll, .algorithm = "pairwise"}};

// Software costs are assumed. Gloo over TCP: a system call and a wake-up for each message, one core that copies to the
// socket and one that adds (one core of Leonardo's and LUMI's hosts adds 5 to 6 GB/s: validation/mpi).
constexpr StepCosts kTcpOnOneCore{.message = 10_us,
                                  .eager = Bytes(0),
                                  .rendezvous = Duration(),
                                  .reduce_rate = Bandwidth(5e9),
                                  .copy_rate = Bandwidth(8e9)};

constexpr std::array kLibraries = {
    LibraryProfile{.name = "nccl", .doc = "NVIDIA's library", .nccl_kernels = true},
    LibraryProfile{.name = "rccl", .doc = "AMD's variant of it, with its own tables", .nccl_kernels = true},
    LibraryProfile{.name = "horovod",
                   .doc = "Horovod over NCCL or RCCL: tensor fusion, and negotiation once a cycle; HOROVOD_* in "
                          "`comm.env`",
                   .nccl_kernels = true},
    LibraryProfile{.name = "gloo",
                   .doc = "Gloo over TCP: buffers in host memory, one core sends and adds",
                   .costs = kTcpOnOneCore,
                   .rules = kGlooRules},
    LibraryProfile{.name = "oneccl",
                   .doc = "Intel's oneCCL; CCL_ALLREDUCE and the like in `comm.env` select algorithms",
                   .costs = {.message = 2_us},
                   .rules = kOneCclRules},
    LibraryProfile{.name = "mscclpp",
                   .doc = "MSCCL++: all-pairs and in-switch algorithms inside a host; between hosts NCCL's kernels",
                   .nccl_kernels = true,
                   .call = 3_us,
                   .rules = kMscclppRules},
    LibraryProfile{.name = "adapcc",
                   .doc = "AdapCC: all-reduces by trees over hosts, the fastest links near the root; NCCL's kernels "
                          "for the rest",
                   .nccl_kernels = true,
                   .call = 5_us,
                   .rules = kAdapCcRules},
    LibraryProfile{.name = "accl",
                   .doc = "Alibaba's ACCL: rings inside hosts, halving and doubling between them",
                   .call = 5_us,
                   .rules = kHybridRules},
    LibraryProfile{.name = "hccl",
                   .doc = "Huawei's HCCL: inside servers, then halving and doubling or rings between them",
                   .call = 5_us,
                   .rules = kHybridRules},
    LibraryProfile{.name = "tccl",
                   .doc = "Tencent's TCCL: rings inside hosts, then rings between them on every rail",
                   .call = 5_us,
                   .rules = kHierarchicalRules}};

}  // namespace

std::span<const LibraryProfile> library_profiles() { return kLibraries; }

const LibraryProfile& library_profile(std::string_view name) {
  const auto found = std::ranges::find(kLibraries, name, &LibraryProfile::name);
  CHECK(found != kLibraries.end(), name);
  return *found;
}

Bytes library_size(const CollectiveCall& call) {
  const bool shared = call.kind == Kind::kAllGather || call.kind == Kind::kReduceScatter;
  return shared ? Bytes(call.bytes.count() / call.size()) : call.bytes;
}

bool matches(const AlgorithmRule& rule, const CollectiveCall& call) {
  if (rule.kind != call.kind) return false;
  if (rule.hosts == RuleHosts::kOne && call.layout->host_count() != 1) return false;
  const Bytes size = library_size(call);
  return size >= rule.from && (rule.up_to == Bytes(0) || size <= rule.up_to);
}

}  // namespace ringwright::collectives
