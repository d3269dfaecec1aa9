#include "collectives/nccl/tables/vocabulary.h"

#include <string>

namespace ringwright::collectives {
namespace {

// Lower case, without separators between words.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '_' || c == '-' || c == ' ' || c == '+') continue;
    result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

}  // namespace

Generation generation_of(int compute_capability) {
  if (compute_capability >= 100) return Generation::kBlackwell;
  if (compute_capability >= 90) return Generation::kHopper;
  if (compute_capability >= 80) return Generation::kAmpere;
  return Generation::kVolta;
}

std::string_view to_string(NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kTree: return "tree";
    case NcclAlgorithm::kRing: return "ring";
    case NcclAlgorithm::kCollnetDirect: return "collnet_direct";
    case NcclAlgorithm::kCollnetChain: return "collnet_chain";
    case NcclAlgorithm::kNvls: return "nvls";
    case NcclAlgorithm::kNvlsTree: return "nvls_tree";
    case NcclAlgorithm::kPat: return "pat";
  }
  return "";
}

std::string_view to_string(Generation generation) {
  switch (generation) {
    case Generation::kVolta: return "volta";
    case Generation::kAmpere: return "ampere";
    case Generation::kHopper: return "hopper";
    case Generation::kBlackwell: return "blackwell";
  }
  return "";
}

std::optional<NcclAlgorithm> parse_nccl_algorithm(std::string_view text) {
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    if (plain(to_string(algorithm)) == plain(text)) return algorithm;
  }
  return std::nullopt;
}

std::optional<Protocol> parse_protocol(std::string_view text) {
  for (const Protocol protocol : kAllProtocols) {
    if (ringwright::to_string(protocol) == plain(text)) return protocol;
  }
  return std::nullopt;
}

std::optional<CollectiveKind> parse_nccl_function(std::string_view text) {
  for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce}) {
    if (plain(ringwright::to_string(kind)) == plain(text)) return kind;
  }
  return std::nullopt;
}

}  // namespace ringwright::collectives
