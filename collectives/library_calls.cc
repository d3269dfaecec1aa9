#include "collectives/library_calls.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ringwright::collectives {
namespace {

// Dimensions of replicas; "world" is a collective alone.
constexpr std::array<std::string_view, 3> kReplicas = {"dp", "edp", "world"};

struct StagedBytes {
  Bytes in;   // of the buffer that a GPU gives
  Bytes out;  // and of the one that it receives
};

// Of the member with the most.
StagedBytes staged_bytes(const CollectiveCall& call) {
  const Bytes share((call.bytes.count() + call.size() - 1) / call.size());
  switch (call.kind) {
    case CollectiveKind::kAllGather: return {.in = share, .out = call.bytes};
    case CollectiveKind::kReduceScatter: return {.in = call.bytes, .out = share};
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:  // the root copies it down, then the others copy it up
    case CollectiveKind::kReduce: return {.in = call.bytes, .out = call.bytes};
  }
  return {};
}

}  // namespace

bool LibraryCalls::counts(const LibrarySettings& library) {
  const auto staged = [](const AlgorithmRule& rule) { return rule.staged; };
  return library.is("horovod") || library.profile->call > Duration() ||
         std::ranges::any_of(library.chosen, staged) || std::ranges::any_of(library.profile->rules, staged);
}

Duration LibraryCalls::staging(const CollectiveCall& call) const {
  const AlgorithmRule* const rule = inputs_.chooser.rule_of(call);
  // Whatever the user names runs where the library's own algorithms run.
  const bool always = std::ranges::any_of(inputs_.library.profile->rules, &AlgorithmRule::staged);
  if (rule == nullptr ? !always : !rule->staged) return {};
  const StagedBytes staged = staged_bytes(call);
  return transfer_time(staged.in, inputs_.host_copy) + transfer_time(staged.out, inputs_.host_copy);
}

// Horovod is a library of data parallelism: it reduces gradients.
Duration LibraryCalls::cycle(const CollectiveCall& call) const {
  if (!inputs_.library.is("horovod") || call.kind != CollectiveKind::kAllReduce) return {};
  if (std::ranges::find(kReplicas, inputs_.chooser.dimension(call)) == kReplicas.end()) return {};
  const HorovodSettings& horovod = inputs_.library.horovod;
  const int rounds = static_cast<int>(std::bit_width(static_cast<unsigned>(call.size() - 1)));
  const int messages = horovod.cached ? 2 * rounds : 2 * (call.size() - 1);
  // Into the buffer and out of it, each a read and a write; a tensor that is not fused is reduced in place.
  const int passes = horovod.fusion_threshold > Bytes(0) ? 4 : 0;
  return horovod.cycle / 2 + messages * kControlMessage + passes * transfer_time(call.bytes, inputs_.gpu_memory);
}

Duration LibraryCalls::of(const CollectiveCall& call) const {
  const Duration kernels = inputs_.kernels != nullptr ? inputs_.kernels->of(call) : Duration();
  if (call.size() < 2) return kernels;
  const bool called = !inputs_.library.profile->nccl_kernels || inputs_.chooser.rule_of(call) != nullptr;
  return kernels + (called ? inputs_.library.profile->call : Duration()) + staging(call) + cycle(call);
}

// Messages between stages of a pipeline: the sender's copy down, the socket, and the receiver's copy up.
Duration LibraryCalls::of(const MessageBetween& message) const {
  const Duration kernels = inputs_.kernels != nullptr ? inputs_.kernels->of(message) : Duration();
  const bool staged = std::ranges::any_of(inputs_.library.profile->rules, &AlgorithmRule::staged);
  if (!staged) return kernels;
  const Bytes bytes = message.call.bytes;
  return kernels + 2 * transfer_time(bytes, inputs_.host_copy) + inputs_.costs.before_send(0, bytes);
}

}  // namespace ringwright::collectives
