#include "collectives/msccl/teccl_schedule.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectives/msccl/proof.h"

namespace ringwright::collectives {
namespace {

constexpr std::string_view kDemands = "6-Demand_Met";
constexpr std::string_view kFlows = "7-Flows";
constexpr int kMostTecclNumber = 1 << 20;

constexpr MscclAction kSendChunk{.name = "s", .sends = true, .reads = true};
constexpr MscclAction kReceiveChunk{.name = "r", .receives = true, .stores = true};

// Numbers between fixed words: "Chunk 0 from 28 traveled over 28->19 in epoch 0".
std::optional<int> take_number(std::string_view& text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || value < 0 || value > kMostTecclNumber) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

struct TecclFlow {
  int epoch = 0;
  int chunk = 0;  // of the whole buffer
  int from = 0;   // ranks
  int to = 0;
  int line = 0;
};

class TecclReader {
 public:
  explicit TecclReader(const ConfigNode& root) : root_(root) {}

  Result<MscclProgram> read(const std::string& name) {
    program_.name = "teccl";
    program_.file = name;
    read_demands();
    if (!problems_.has_errors()) read_flows();
    if (!problems_.has_errors()) make_program();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(program_);
  }

 private:
  void fail(const ConfigNode& at, std::string message, std::string hint = {}) {
    problems_.add(at_value(at, "E184", std::move(message), std::move(hint)));
  }
  const ConfigNode* find(std::string_view key, ConfigKind kind) {
    const ConfigEntry* entry = find_entry(root_, key);
    if (entry != nullptr && entry->value.kind == kind) return &entry->value;
    fail(entry == nullptr ? root_ : entry->value, fmt::format("there is no {} '{}'",
                                                              kind == ConfigKind::kMap ? "map" : "list", key));
    return nullptr;
  }

  // In an all-gather every GPU demands the same chunks of every other.
  void read_demands() {
    const ConfigNode* demands = find(kDemands, ConfigKind::kMap);
    if (demands == nullptr) return;
    for (const ConfigEntry& gpu : demands->entries) {
      std::string_view text = gpu.key;
      const auto number = take_number(text, "GPU ");
      if (!number) return fail(gpu.value, fmt::format("'{}' is not 'GPU NUMBER'", gpu.key));
      rank_of_.emplace(*number, 0);
    }
    int rank = 0;
    for (auto& [number, of] : rank_of_) of = rank++;
    std::optional<std::set<std::string>> chunks;
    for (const ConfigEntry& gpu : demands->entries) {
      if (gpu.value.entries.size() + 1 != rank_of_.size()) return not_gathered(gpu.value);
      for (const ConfigEntry& source : gpu.value.entries) {
        std::set<std::string> here;
        for (const ConfigEntry& chunk : source.value.entries) here.insert(chunk.key);
        if (!chunks) chunks = here;
        if (here != *chunks || here.empty()) return not_gathered(source.value);
      }
    }
    if (!chunks) return fail(*demands, "there are no demands");
    chunks_ = static_cast<int>(chunks->size());
  }
  void not_gathered(const ConfigNode& at) {
    fail(at, "the demands are not those of an all-gather, where every GPU gets the same chunks of every other",
         "other collectives can be given as the MSCCL file that TE-CCL writes");
  }

  std::optional<int> rank_of(std::optional<int> number) const {
    const auto found = number ? rank_of_.find(*number) : rank_of_.end();
    if (found == rank_of_.end()) return std::nullopt;
    return found->second;
  }

  void read_flows() {
    const ConfigNode* flows = find(kFlows, ConfigKind::kList);
    if (flows == nullptr) return;
    for (const ConfigNode& flow : flows->items) {
      std::string_view text = flow.text;
      const auto chunk = take_number(text, "Chunk ");
      const auto source = rank_of(take_number(text, "from "));
      const auto from = rank_of(take_number(text, "over "));
      const auto to = rank_of(take_number(text, "->"));
      const auto epoch = take_number(text, "epoch ");
      if (!chunk || !source || !from || !to || !epoch || *chunk >= chunks_) {
        return fail(flow, fmt::format("'{}' is not a flow between GPUs of the demands", flow.text),
                    "Chunk 0 from 28 traveled over 28->19 in epoch 0");
      }
      flows_.push_back({.epoch = *epoch, .chunk = *source * chunks_ + *chunk, .from = *from, .to = *to,
                        .line = flow.line});
    }
    std::ranges::sort(flows_, [](const TecclFlow& a, const TecclFlow& b) {
      return std::tie(a.epoch, a.from, a.to, a.chunk) < std::tie(b.epoch, b.from, b.to, b.chunk);
    });
  }

  // The block of a GPU that sends to (or receives from) a peer, by position in its list.
  int block_of(int rank, int peer, bool sends) {
    MscclGpu& gpu = program_.gpus[static_cast<std::size_t>(rank)];
    const auto [found, fresh] = block_of_.try_emplace({rank, peer, sends}, static_cast<int>(gpu.blocks.size()));
    if (fresh) {
      gpu.blocks.push_back({.id = found->second, .send = sends ? peer : -1, .receive = sends ? -1 : peer});
    }
    return found->second;
  }
  MscclBlock& block(int rank, int position) {
    return program_.gpus[static_cast<std::size_t>(rank)].blocks[static_cast<std::size_t>(position)];
  }

  void make_program() {
    const int ranks = static_cast<int>(rank_of_.size());
    program_.kind = CollectiveKind::kAllGather;
    program_.chunks = ranks * chunks_;
    program_.in_place = true;
    program_.max_bytes = Bytes(std::numeric_limits<std::int64_t>::max());
    program_.gpus.resize(rank_of_.size());
    for (int rank = 0; rank < ranks; ++rank) {
      MscclGpu& gpu = program_.gpus[static_cast<std::size_t>(rank)];
      gpu.inputs = chunks_;
      gpu.outputs = program_.chunks;
    }
    std::map<std::pair<int, int>, std::pair<int, int>> arrived;  // by rank and chunk: block and step
    for (const TecclFlow& flow : flows_) {
      MscclStep send{.action = &kSendChunk, .source_buffer = MscclBuffer::kOutput, .source = flow.chunk, .count = 1,
                     .line = flow.line};
      if (flow.chunk / chunks_ != flow.from) {
        const auto has = arrived.find({flow.from, flow.chunk});
        if (has == arrived.end()) {
          problems_.add({.severity = Severity::kError,
                         .code = "E184",
                         .place = {.file = program_.file, .line = flow.line, .column = 1},
                         .message = "a GPU passes on a chunk that has not arrived in an earlier epoch"});
          return;
        }
        std::tie(send.after_block, send.after_step) = has->second;
      }
      const int sender = block_of(flow.from, flow.to, true);
      const int receiver = block_of(flow.to, flow.from, false);
      block(flow.from, sender).steps.push_back(send);
      MscclBlock& reads = block(flow.to, receiver);
      reads.receive_block = sender;
      arrived.try_emplace({flow.to, flow.chunk}, receiver, static_cast<int>(reads.steps.size()));
      reads.steps.push_back({.action = &kReceiveChunk, .target_buffer = MscclBuffer::kOutput, .target = flow.chunk,
                             .count = 1, .line = flow.line});
    }
  }

  const ConfigNode& root_;
  MscclProgram program_;
  Diagnostics problems_;
  std::map<int, int> rank_of_;  // by number in the file
  int chunks_ = 1;              // of each GPU
  std::vector<TecclFlow> flows_;  // by epoch
  std::map<std::tuple<int, int, bool>, int> block_of_;
};

}  // namespace

bool is_teccl_schedule(const ConfigNode& root) {
  return root.kind == ConfigKind::kMap && find_entry(root, kFlows) != nullptr;
}

Result<MscclProgram> read_teccl_schedule(const ConfigNode& root, const std::string& name) {
  auto program = TecclReader(root).read(name);
  if (!program) return program;
  const MscclProof proof = prove(*program);
  if (proof.holds()) return program;
  Diagnostics problems;
  ConfigNode at;
  at.source = root.source;
  at.line = proof.line;
  at.column = 1;
  problems.add(at_value(at, "E184", proof.violation));
  return tl::unexpected(std::move(problems));
}

}  // namespace ringwright::collectives
