#include "traces/text_workload/text_workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "traces/input/byte_stream.h"
#include "traces/input/log_text.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kLargestTextWorkload = std::size_t{256} << 20U;
constexpr std::size_t kMostTextProblems = 100;
constexpr std::int64_t kMostTextLayers = 1'000'000;
constexpr std::int64_t kMostTextGroup = 10'000'000;
constexpr std::int64_t kMostLayerNanos = 3'600'000'000'000'000;  // 1000 h
constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 50U;
constexpr std::size_t kLayerWords = 12;

struct LoopName {
  std::string_view name;
  TextLoop loop;
};
constexpr std::array kLoopNames{LoopName{"DATA", TextLoop::kData},
                                LoopName{"MODEL", TextLoop::kModel},
                                LoopName{"HYBRID_DATA_MODEL", TextLoop::kHybridDataModel},
                                LoopName{"HYBRID_MODEL_DATA", TextLoop::kHybridModelData},
                                LoopName{"HYBRID_TRANSFORMER", TextLoop::kTransformer},
                                LoopName{"HYBRID_TRANSFORMER_FWD_IN_BCKWD", TextLoop::kTransformerRecompute},
                                LoopName{"DISTRIBUTED_INFERENCE", TextLoop::kInference}};
// Of the same programs; not simulated.
constexpr std::array<std::string_view, 4> kOtherLoops{"HYBRID_DLRM", "HYBRID_DLRM_ENHANCED", "HYBRID_CUSTOMIZED",
                                                      "MICRO"};

struct CallName {
  std::string_view name;
  CollectiveKind kind;
};
constexpr std::array kCallNames{
    CallName{"ALLREDUCE", CollectiveKind::kAllReduce}, CallName{"ALLGATHER", CollectiveKind::kAllGather},
    CallName{"REDUCESCATTER", CollectiveKind::kReduceScatter}, CallName{"ALLTOALL", CollectiveKind::kAllToAll},
    CallName{"BROADCAST", CollectiveKind::kBroadcast}};

class TextWorkloadReader {
 public:
  TextWorkloadReader(const std::string& file, std::string_view text) : text_(text) {
    workload_.file = file;
    workload_.digest = sha256(text);
  }

  [[nodiscard]] Result<TextWorkload> read() {
    const std::vector<std::string_view> head = next_line();
    read_loop(head);
    if (!problems_.has_errors()) read_head(head);
    const std::int64_t rows = problems_.has_errors() ? 0 : read_count();
    read_layers(rows);
    check_recomputation();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(workload_);
  }

 private:
  void error(std::string message, std::string hint = {}) {
    if (problems_.error_count() >= kMostTextProblems) return;
    problems_.add({.severity = Severity::kError,
                   .code = "E622",
                   .place = {.file = workload_.file, .line = line_, .column = 1},
                   .message = std::move(message),
                   .hint = std::move(hint)});
  }

  // Its words; empty at the end. Blank lines are skipped.
  [[nodiscard]] std::vector<std::string_view> next_line() {
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::vector<std::string_view> words = words_of(text_.substr(at_, end - at_));
      at_ = end + 1;
      ++line_;
      if (!words.empty()) return words;
    }
    return {};
  }

  void read_loop(const std::vector<std::string_view>& head) {
    const std::string_view name = head.empty() ? std::string_view() : head.front();
    const auto* const found = std::ranges::find(kLoopNames, name, &LoopName::name);
    if (found != kLoopNames.end()) {
      workload_.loop = found->loop;
      return;
    }
    if (std::ranges::find(kOtherLoops, name) != kOtherLoops.end()) {
      error(fmt::format("the training loop {} is not simulated", name),
            "DATA, MODEL, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_TRANSFORMER or DISTRIBUTED_INFERENCE are");
      return;
    }
    error(fmt::format("'{}' is no training loop", name.substr(0, 60)), "the first word of the file is such as DATA");
  }

  void read_head(const std::vector<std::string_view>& head) {
    for (std::size_t i = 1; i < head.size(); ++i) {
      std::string_view key = head[i];
      if (key.ends_with(':')) key.remove_suffix(1);
      const auto value = i + 1 < head.size() ? parse_number<std::int64_t>(head[i + 1]) : std::nullopt;
      if (key == "checkpoints" || key == "checkpoint_initiates") {
        i = read_list(head, i, key == "checkpoints" ? workload_.checkpoints : workload_.initiates);
      } else if (key == "pp_comm") {
        read_pipeline_message(i + 1 < head.size() ? head[i + 1] : std::string_view());
        ++i;
      } else if (std::optional<std::int64_t>* const target = size_of(key); target != nullptr) {
        if (!value || *value < 1 || *value > kMostTextGroup) {
          error(fmt::format("'{}' needs a whole number from 1 to {}", key, kMostTextGroup));
          return;
        }
        *target = value;
        ++i;
      } else {
        error(fmt::format("'{}' in the first line is unknown", head[i].substr(0, 60)),
              "known are model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, pp_comm, checkpoints and "
              "checkpoint_initiates, each with a colon and its value");
        return;
      }
    }
  }

  [[nodiscard]] std::optional<std::int64_t>* size_of(std::string_view key) {
    if (key == "model_parallel_NPU_group") return &workload_.tensor;
    if (key == "ep") return &workload_.expert;
    if (key == "pp") return &workload_.pipeline;
    if (key == "vpp") return &workload_.virtual_stages;
    if (key == "ga") return &workload_.accumulation;
    if (key == "all_gpus") return &workload_.gpus;
    return nullptr;
  }

  // AICB divides in Python and may write 16777216.0.
  void read_pipeline_message(std::string_view word) {
    const auto value = parse_number<double>(word);
    if (!value || *value < 0.0 || *value > static_cast<double>(kMostTextBytes)) {
      error("'pp_comm' needs a number of bytes");
      return;
    }
    workload_.pipeline_message = Bytes(std::llround(*value));
  }

  // "checkpoints: 2 0 4"; returns the position of the last word.
  std::size_t read_list(const std::vector<std::string_view>& head, std::size_t at, std::vector<std::size_t>& list) {
    const auto count = at + 1 < head.size() ? parse_number<std::int64_t>(head[at + 1]) : std::nullopt;
    if (!count || *count < 0 || *count > kMostTextLayers) {
      error(fmt::format("'{}' needs the number of its layers", head[at]));
      return head.size();
    }
    for (std::int64_t i = 0; i < *count; ++i) {
      const std::size_t place = at + 2 + static_cast<std::size_t>(i);
      const auto layer = place < head.size() ? parse_number<std::size_t>(head[place]) : std::nullopt;
      if (!layer) {
        error(fmt::format("'{}' announces {} layers and lists {}", head[at], *count, i));
        return head.size();
      }
      list.push_back(*layer);
    }
    std::ranges::sort(list);
    return at + 1 + static_cast<std::size_t>(*count);
  }

  [[nodiscard]] std::int64_t read_count() {
    const std::vector<std::string_view> words = next_line();
    const auto rows = words.size() == 1 ? parse_number<std::int64_t>(words.front()) : std::nullopt;
    if (rows && *rows >= 1 && *rows <= kMostTextLayers) return *rows;
    error(fmt::format("the second line is the number of rows, from 1 to {}", kMostTextLayers));
    return 0;
  }

  void read_layers(std::int64_t rows) {
    for (std::int64_t row = 0; row < rows && problems_.error_count() < kMostTextProblems; ++row) {
      const std::vector<std::string_view> words = next_line();
      if (words.empty()) {
        error(fmt::format("the file ends after {} of {} rows", row, rows));
        return;
      }
      if (words.size() != kLayerWords) {
        error(fmt::format("a row has {} words, and this one {}", kLayerWords, words.size()),
              "name reserved fwd_compute fwd_comm fwd_bytes ig_compute ig_comm ig_bytes wg_compute wg_comm wg_bytes "
              "update");
        continue;
      }
      workload_.layers.push_back({.name = std::string(words[0]),
                                  .forward = phase(words[2], words[3], words[4]),
                                  .input_gradient = phase(words[5], words[6], words[7]),
                                  .weight_gradient = phase(words[8], words[9], words[10]),
                                  .update = nanoseconds(words[11])});
    }
    if (rows > 0 && !problems_.has_errors() && !next_line().empty()) {
      error(fmt::format("there are more rows than the {} of the second line", rows));
    }
  }

  [[nodiscard]] TextPhase phase(std::string_view compute, std::string_view communication, std::string_view bytes) {
    return {.compute = nanoseconds(compute), .call = call(communication, bytes)};
  }

  [[nodiscard]] Duration nanoseconds(std::string_view word) {
    const auto value = parse_number<std::int64_t>(word);
    if (value && *value >= 0 && *value <= kMostLayerNanos) return Duration(1'000) * *value;
    error(fmt::format("'{}' is no time: whole nanoseconds from 0 to 1000 h", word.substr(0, 60)));
    return {};
  }

  [[nodiscard]] TextCall call(std::string_view word, std::string_view bytes) {
    const auto size = parse_number<std::int64_t>(bytes);
    if (!size || *size < 0 || *size > kMostTextBytes) {
      error(fmt::format("'{}' is no size: whole bytes from 0 to 1 PiB", bytes.substr(0, 60)));
      return {};
    }
    TextCall result{.bytes = Bytes(*size)};
    std::string_view name = word;
    const auto cut = [&name](std::string_view suffix) {
      if (!name.ends_with(suffix)) return false;
      name.remove_suffix(suffix.size());
      return true;
    };
    if (cut("_DP_EP"))
      result.group = TextGroup::kExpertData;
    else if (cut("_EP"))
      result.group = TextGroup::kExpert;
    if (name == "NONE") return {};
    const auto* const found = std::ranges::find(kCallNames, name, &CallName::name);
    if (found == kCallNames.end()) {
      error(fmt::format("'{}' is no communication", word.substr(0, 60)),
            "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, with _EP or _DP_EP for other groups");
      return {};
    }
    result.kind = found->kind;
    return result;
  }

  void check_recomputation() {
    for (const std::vector<std::size_t>* const list : {&workload_.checkpoints, &workload_.initiates}) {
      if (!list->empty() && list->back() >= workload_.layers.size() && !problems_.has_errors()) {
        error(fmt::format("layer {} of the first line is not among the {} rows", list->back(),
                          workload_.layers.size()));
      }
    }
    if (!workload_.initiates.empty() && workload_.loop != TextLoop::kTransformerRecompute) {
      error(fmt::format("{} has no recomputation", to_string(workload_.loop)),
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD reads checkpoint_initiates");
    }
    for (const std::size_t layer : workload_.initiates) {
      if (!workload_.checkpoints.empty() && workload_.checkpoints.front() <= layer) continue;
      error(fmt::format("layer {} initiates recomputation, and no checkpoint is at or before it", layer));
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 0;
  TextWorkload workload_;
  Diagnostics problems_;
};

}  // namespace

std::string_view to_string(TextLoop loop) {
  return kLoopNames[static_cast<std::size_t>(loop)].name;
}

bool looks_like_text_workload(std::string_view beginning) {
  const std::string_view line = beginning.substr(0, beginning.find('\n'));
  const std::vector<std::string_view> words = words_of(line);
  if (words.empty()) return false;
  const bool known = std::ranges::find(kLoopNames, words.front(), &LoopName::name) != kLoopNames.end() ||
                     std::ranges::find(kOtherLoops, words.front()) != kOtherLoops.end();
  return known && (words.size() == 1 || words[1].ends_with(':'));
}

Result<TextWorkload> parse_text_workload(const std::string& file, std::string_view text) {
  return TextWorkloadReader(file, text).read();
}

Result<TextWorkload> read_text_workload(const std::string& path) {
  const auto content = read_all(path, kLargestTextWorkload);
  if (!content) return tl::unexpected(failure("E622", "cannot read the workload: " + content.error(), {.file = path}));
  return parse_text_workload(path, *content);
}

}  // namespace ringwright::traces
