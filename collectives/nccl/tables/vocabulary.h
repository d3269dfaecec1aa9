// The names that NCCL's cost model uses: algorithms, kinds of hop, generations of GPUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// In NCCL's order, which breaks ties.
enum class NcclAlgorithm : std::uint8_t { kTree, kRing, kCollnetDirect, kCollnetChain, kNvls, kNvlsTree, kPat };
inline constexpr std::array kNcclAlgorithms = {
    NcclAlgorithm::kTree,         NcclAlgorithm::kRing, NcclAlgorithm::kCollnetDirect,
    NcclAlgorithm::kCollnetChain, NcclAlgorithm::kNvls, NcclAlgorithm::kNvlsTree,
    NcclAlgorithm::kPat};
inline constexpr std::array kAllProtocols = {Protocol::kLl, Protocol::kLl128, Protocol::kSimple};

// Of the five functions that NCCL's tables know, by CollectiveKind; all-to-all is not a separate function.
inline constexpr std::size_t kNcclKinds = 6;
// MAXCHANNELS; older versions have half of it.
inline constexpr int kNcclMaxChannels = 64;

enum class NcclHop : std::uint8_t { kNvlink, kPcie, kNetwork };
inline constexpr std::array kNcclHops = {NcclHop::kNvlink, NcclHop::kPcie, NcclHop::kNetwork};

enum class Generation : std::uint8_t { kVolta, kAmpere, kHopper, kBlackwell };
inline constexpr std::array kGenerations = {Generation::kVolta, Generation::kAmpere, Generation::kHopper,
                                            Generation::kBlackwell};
// By compute capability, 90 for 9.0.
[[nodiscard]] Generation generation_of(int compute_capability);

// "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"
[[nodiscard]] std::string_view to_string(NcclAlgorithm algorithm);
[[nodiscard]] std::string_view to_string(Generation generation);
// Case and underscores do not matter, as in NCCL_ALGO ("NVLSTree") and in tuner files ("nvls_tree").
[[nodiscard]] std::optional<NcclAlgorithm> parse_nccl_algorithm(std::string_view text);
[[nodiscard]] std::optional<Protocol> parse_protocol(std::string_view text);
// "allreduce", "AllReduce", "reduce_scatter"; all-to-all has no entry in NCCL's tables.
[[nodiscard]] std::optional<CollectiveKind> parse_nccl_function(std::string_view text);

template <class Enum>
[[nodiscard]] constexpr std::size_t index_of(Enum value) {
  return static_cast<std::size_t>(value);
}

}  // namespace ringwright::collectives
