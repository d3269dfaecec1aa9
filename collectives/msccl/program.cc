// From XML to a program: every attribute checked, sends matched with their receives.
#include "collectives/msccl/program.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "collectives/msccl/proof.h"
#include "collectives/nccl/tables/vocabulary.h"
#include "core/base/text.h"
#include "core/config/xml_document.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostMscclGpus = 4096;
constexpr int kMostMscclChunks = 1 << 20;
constexpr std::int64_t kMostChunksInAll = std::int64_t{1} << 22;  // of all GPUs' buffers: the proof holds each
constexpr std::int64_t kDefaultMaxBytes = std::int64_t{1} << 27;

constexpr std::array kMscclActions = {
    MscclAction{.name = "s", .sends = true, .reads = true},
    MscclAction{.name = "r", .receives = true, .stores = true},
    MscclAction{.name = "rcs", .receives = true, .sends = true, .stores = true},
    MscclAction{.name = "rrs", .receives = true, .sends = true, .reads = true},
    MscclAction{.name = "rrc", .receives = true, .reads = true, .stores = true},
    MscclAction{.name = "rrcs", .receives = true, .sends = true, .reads = true, .stores = true},
    MscclAction{.name = "cpy", .reads = true, .stores = true},
    MscclAction{.name = "re", .reads = true, .stores = true, .adds_to_destination = true},
    MscclAction{.name = "ra", .reads = true, .stores = true, .adds_to_destination = true},
    MscclAction{.name = "nop"},
};

constexpr std::array<std::string_view, 12> kAlgoAttributes = {"name",     "proto",    "nchannels", "nchunksperloop",
                                                              "ngpus",    "coll",     "inplace",   "outofplace",
                                                              "minBytes", "maxBytes", "redop",     "nthreads"};
constexpr std::array<std::string_view, 10> kStepAttributes = {"s",      "type", "srcbuf", "srcoff", "dstbuf",
                                                              "dstoff", "cnt",  "depid",  "deps",   "hasdep"};

std::string action_names() {
  std::vector<std::string> names;
  for (const MscclAction& action : kMscclActions) names.emplace_back(action.name);
  return join(names, ", ");
}

class MscclReader {
 public:
  explicit MscclReader(const XmlDocument& document) : document_(document) { program_.file = document.name; }

  Result<MscclProgram> read() {
    const XmlElement& algo = document_.root;
    if (algo.name != "algo") {
      fail(algo, fmt::format("the file begins with <{}>, not with <algo>", algo.name));
      return tl::unexpected(std::move(problems_));
    }
    read_head(algo);
    if (!problems_.has_errors()) read_gpus(algo);
    if (!problems_.has_errors()) find_waits();
    if (!problems_.has_errors()) join_blocks();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(program_);
  }

 private:
  void fail(const XmlElement& at, std::string message, std::string hint = {}) {
    problems_.add(document_.problem(at, "E184", std::move(message), std::move(hint)));
  }

  // A misspelled attribute would leave the default of the one that is meant; others are remarks of some tool.
  void check_names(const XmlElement& at, std::span<const std::string_view> known) {
    for (const auto& [name, value] : at.attributes) {
      if (std::ranges::find(known, name) != known.end()) continue;
      const std::string near = nearest_name(name, std::vector<std::string>(known.begin(), known.end()));
      if (!near.empty()) {
        fail(at, fmt::format("<{}> has no attribute '{}'", at.name, name), fmt::format("did you mean '{}'?", near));
      }
    }
  }

  std::int64_t number(const XmlElement& at, std::string_view name, std::int64_t least, std::int64_t most,
                      std::optional<std::int64_t> fallback = std::nullopt) {
    if (!at.attribute(name) && fallback) return *fallback;
    const auto value = at.integer(name);
    if (value && *value >= least && *value <= most) return *value;
    if (!at.attribute(name)) {
      fail(at, fmt::format("<{}> has no {}", at.name, name));
    } else {
      fail(at, fmt::format("{} is '{}' and must be a whole number from {} to {}", name, at.text(name), least, most));
    }
    return least;
  }
  int small(const XmlElement& at, std::string_view name, int least, int most,
            std::optional<int> fallback = std::nullopt) {
    return static_cast<int>(number(at, name, least, most, fallback));
  }

  void read_head(const XmlElement& algo) {
    check_names(algo, kAlgoAttributes);
    program_.name = algo.text("name").empty() ? "msccl" : std::string(algo.text("name"));
    program_.channels = small(algo, "nchannels", 1, 64);
    program_.chunks = small(algo, "nchunksperloop", 1, kMostMscclChunks);
    program_.threads = small(algo, "nthreads", 0, 1024, 0);
    program_.in_place = small(algo, "inplace", 0, 1, 0) == 1;
    program_.min_bytes = Bytes(number(algo, "minBytes", 0, std::numeric_limits<std::int64_t>::max(), 0));
    program_.max_bytes = Bytes(number(algo, "maxBytes", 0, std::numeric_limits<std::int64_t>::max(), kDefaultMaxBytes));
    if (program_.min_bytes > program_.max_bytes) fail(algo, "minBytes is above maxBytes");
    if (const auto protocol = parse_protocol(algo.text("proto"))) {
      program_.protocol = *protocol;
    } else {
      fail(algo, fmt::format("proto is '{}' and must be Simple, LL or LL128", algo.text("proto")));
    }
    const std::string_view coll = algo.text("coll");
    program_.kind = parse_nccl_function(coll);
    if (coll == "alltoall") program_.kind = CollectiveKind::kAllToAll;
    if (!program_.kind && coll != "custom") {
      fail(algo, fmt::format("coll is '{}'", coll),
           "one of allreduce, allgather, reduce, broadcast, alltoall, reduce_scatter, custom");
    }
  }

  void read_gpus(const XmlElement& algo) {
    const int ranks = small(algo, "ngpus", 1, kMostMscclGpus);
    std::vector<bool> seen(static_cast<std::size_t>(ranks), false);
    program_.gpus.resize(static_cast<std::size_t>(ranks));
    for (const XmlElement& gpu : algo.children) {
      if (gpu.name != "gpu") continue;
      const int id = small(gpu, "id", 0, ranks - 1);
      if (seen[static_cast<std::size_t>(id)]) return fail(gpu, fmt::format("GPU {} is listed twice", id));
      seen[static_cast<std::size_t>(id)] = true;
      read_gpu(gpu, id);
    }
    for (int id = 0; id < ranks; ++id) {
      if (!seen[static_cast<std::size_t>(id)]) fail(algo, fmt::format("GPU {} of {} is missing", id, ranks));
    }
    std::int64_t all = 0;
    for (const MscclGpu& gpu : program_.gpus) all += std::int64_t{gpu.inputs} + gpu.outputs + gpu.scratch;
    all = std::max(all, std::int64_t{program_.chunks} * ranks);
    if (all > kMostChunksInAll) {
      fail(algo, fmt::format("{} chunks of all GPUs are too many: at most {}", all, kMostChunksInAll));
    }
  }

  void read_gpu(const XmlElement& element, int id) {
    MscclGpu& gpu = program_.gpus[static_cast<std::size_t>(id)];
    gpu.line = element.line;
    gpu.inputs = small(element, "i_chunks", 0, kMostMscclChunks);
    gpu.outputs = small(element, "o_chunks", 0, kMostMscclChunks);
    gpu.scratch = small(element, "s_chunks", 0, kMostMscclChunks);
    for (const XmlElement& child : element.children) {
      if (child.name == "copy") read_copy(child, gpu, id);
      if (child.name == "tb") read_block(child, gpu, id);
    }
  }

  void read_copy(const XmlElement& element, MscclGpu& gpu, int self) {
    const int inputs = size_of(gpu, self, MscclBuffer::kInput);
    const int outputs = size_of(gpu, self, MscclBuffer::kOutput);
    if (inputs == 0 || outputs == 0) {
      return fail(element, fmt::format("copies from {} chunks of input to {} of output", inputs, outputs));
    }
    gpu.copies.push_back(
        {.input = small(element, "i_off", 0, inputs - 1), .output = small(element, "o_off", 0, outputs - 1)});
  }

  void read_block(const XmlElement& element, MscclGpu& gpu, int self) {
    MscclBlock block{.id = small(element, "id", 0, kMostMscclChunks),
                     .channel = small(element, "chan", 0, program_.channels - 1),
                     .send = small(element, "send", -1, program_.ranks() - 1),
                     .receive = small(element, "recv", -1, program_.ranks() - 1),
                     .line = element.line,
                     .steps = {}};
    if (block.send == self || block.receive == self) fail(element, fmt::format("GPU {} sends to itself", self));
    for (const MscclBlock& other : gpu.blocks) {
      if (other.id == block.id) fail(element, fmt::format("thread block {} is listed twice", block.id));
      const bool same_send = other.channel == block.channel && other.send == block.send && block.send >= 0;
      const bool same_receive = other.channel == block.channel && other.receive == block.receive && block.receive >= 0;
      if (same_send || same_receive) {
        fail(element,
             fmt::format("thread blocks {} and {} both {} GPU {} on channel {}", other.id, block.id,
                         same_send ? "send to" : "receive from", same_send ? block.send : block.receive, block.channel),
             "only one thread block may use the queue between two GPUs on a channel");
      }
    }
    for (const XmlElement& step : element.children) {
      if (step.name == "step") read_step(step, gpu, self, block);
    }
    gpu.blocks.push_back(std::move(block));
  }

  MscclBuffer buffer(const XmlElement& at, std::string_view name) {
    const std::string_view text = at.text(name);
    if (text == "i") return MscclBuffer::kInput;
    if (text == "o") return MscclBuffer::kOutput;
    if (text == "s") return MscclBuffer::kScratch;
    fail(at, fmt::format("{} is '{}' and must be i, o or s", name, text));
    return MscclBuffer::kInput;
  }

  // In-place output and input are one buffer, and a file may omit the size of either.
  [[nodiscard]] int size_of(const MscclGpu& gpu, int self, MscclBuffer which) const {
    switch (which) {
      case MscclBuffer::kInput: return program_.in_place && gpu.inputs == 0 ? in_place_input(gpu) : gpu.inputs;
      case MscclBuffer::kOutput: return program_.in_place ? in_place_output(gpu, self) : gpu.outputs;
      case MscclBuffer::kScratch: return gpu.scratch;
    }
    return 0;
  }

  // For an all-gather, the rank's part of the output.
  [[nodiscard]] int in_place_input(const MscclGpu& gpu) const {
    return program_.kind == CollectiveKind::kAllGather ? gpu.outputs / program_.ranks() : gpu.outputs;
  }

  // For a reduce-scatter, what follows the beginning of the rank's part of the input.
  [[nodiscard]] int in_place_output(const MscclGpu& gpu, int self) const {
    const int whole = std::max(gpu.outputs, gpu.inputs);
    if (program_.kind != CollectiveKind::kReduceScatter) return whole;
    return std::max(0, whole - self * program_.chunks_per_rank());
  }

  int chunk(const XmlElement& at, std::string_view name, const MscclStep& step, int size) {
    const int first = small(at, name, 0, kMostMscclChunks);
    if (first + step.count > size) {
      fail(at, fmt::format("chunks {} to {} are out of range: the buffer has {}", first, first + step.count - 1, size));
    }
    return first;
  }

  void read_step(const XmlElement& element, const MscclGpu& gpu, int self, MscclBlock& block) {
    MscclStep step{.line = element.line};
    check_names(element, kStepAttributes);
    const int place = small(element, "s", 0, kMostMscclChunks, static_cast<int>(block.steps.size()));
    if (std::cmp_not_equal(place, block.steps.size())) {
      fail(element, fmt::format("step {} stands where step {} belongs: a thread block lists its steps in order, from 0",
                                place, block.steps.size()));
    }
    const auto found = std::find_if(kMscclActions.begin(), kMscclActions.end(),
                                    [&](const MscclAction& action) { return action.name == element.text("type"); });
    if (found == kMscclActions.end()) {
      return fail(element, fmt::format("type is '{}'", element.text("type")), "one of " + action_names());
    }
    step.action = &*found;
    if (found->sends && block.send < 0) fail(element, fmt::format("thread block {} has no send peer", block.id));
    if (found->receives && block.receive < 0)
      fail(element, fmt::format("thread block {} has no receive peer", block.id));
    if (found->reads || found->stores || found->receives) {
      step.count = small(element, "cnt", 1, kMostMscclChunks);
      if (found->reads) {
        step.source_buffer = buffer(element, "srcbuf");
        step.source = chunk(element, "srcoff", step, size_of(gpu, self, step.source_buffer));
      }
      if (found->stores) {
        step.target_buffer = buffer(element, "dstbuf");
        step.target = chunk(element, "dstoff", step, size_of(gpu, self, step.target_buffer));
      }
    }
    step.after_block = small(element, "depid", -1, kMostMscclChunks, -1);
    step.after_step = small(element, "deps", -1, kMostMscclChunks, -1);
    block.steps.push_back(step);
  }

  // Files refer to blocks by id, programs by position.
  void find_waits() {
    for (MscclGpu& gpu : program_.gpus) {
      std::map<int, int> place;
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) place[gpu.blocks[b].id] = static_cast<int>(b);
      for (MscclBlock& block : gpu.blocks) {
        for (MscclStep& step : block.steps) {
          if (step.after_block < 0) continue;
          const auto found = place.find(step.after_block);
          const bool exists =
              found != place.end() && step.after_step >= 0 &&
              step.after_step < static_cast<int>(gpu.blocks[static_cast<std::size_t>(found->second)].steps.size());
          if (!exists) {
            fail_at(step.line, fmt::format("waits for step {} of thread block {}, which does not exist",
                                           step.after_step, step.after_block));
            return;
          }
          step.after_block = found->second;
        }
      }
    }
  }

  void fail_at(int line, std::string message) {
    XmlElement at{.name = "", .attributes = {}, .children = {}, .line = line};
    fail(at, std::move(message));
  }

  void join_blocks() {
    std::map<std::tuple<int, int, int>, int> senders;  // from, to, channel
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      const MscclGpu& gpu = program_.gpus[static_cast<std::size_t>(rank)];
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        if (sends_in(gpu.blocks[b]) > 0)
          senders[{rank, gpu.blocks[b].send, gpu.blocks[b].channel}] = static_cast<int>(b);
      }
    }
    for (int rank = 0; rank < program_.ranks(); ++rank) {
      for (MscclBlock& block : program_.gpus[static_cast<std::size_t>(rank)].blocks) {
        if (receives_in(block) == 0) {
          block.receive = -1;
          continue;
        }
        const auto found = senders.find({block.receive, rank, block.channel});
        if (found == senders.end()) {
          fail_at(block.line, fmt::format("receives from GPU {} on channel {}, which sends nothing there",
                                          block.receive, block.channel));
          continue;
        }
        block.receive_block = found->second;
        match(block,
              program_.gpus[static_cast<std::size_t>(block.receive)].blocks[static_cast<std::size_t>(found->second)]);
        senders.erase(found);
      }
    }
    for (const auto& [key, block] : senders) {
      const auto& [from, to, channel] = key;
      const int line = program_.gpus[static_cast<std::size_t>(from)].blocks[static_cast<std::size_t>(block)].line;
      fail_at(line, fmt::format("sends to GPU {} on channel {}, which receives nothing there", to, channel));
    }
    drop_idle_sends();
  }

  void drop_idle_sends() {
    for (MscclGpu& gpu : program_.gpus) {
      for (MscclBlock& block : gpu.blocks) {
        if (sends_in(block) == 0) block.send = -1;
      }
    }
  }

  static int sends_in(const MscclBlock& block) {
    return static_cast<int>(
        std::count_if(block.steps.begin(), block.steps.end(), [](const MscclStep& s) { return s.action->sends; }));
  }
  static int receives_in(const MscclBlock& block) {
    return static_cast<int>(
        std::count_if(block.steps.begin(), block.steps.end(), [](const MscclStep& s) { return s.action->receives; }));
  }

  // The messages of a queue must match in order and length at both ends.
  void match(const MscclBlock& reader, const MscclBlock& writer) {
    auto send = writer.steps.begin();
    const auto next_send = [&] {
      send = std::find_if(send, writer.steps.end(), [](const MscclStep& s) { return s.action->sends; });
      return send != writer.steps.end();
    };
    for (const MscclStep& step : reader.steps) {
      if (!step.action->receives) continue;
      if (!next_send()) return fail_at(step.line, "receives a message that is never sent");
      if (send->count != step.count) {
        return fail_at(step.line,
                       fmt::format("receives {} chunks where line {} sends {}", step.count, send->line, send->count));
      }
      ++send;
    }
    if (next_send()) fail_at(send->line, "sends a message that is never received");
  }

  const XmlDocument& document_;
  MscclProgram program_;
  Diagnostics problems_;
};

Result<MscclProgram> checked(Result<XmlDocument> document) {
  if (!document) return tl::unexpected(document.error());
  auto program = MscclReader(*document).read();
  if (!program) return program;
  const MscclProof proof = prove(*program);
  if (proof.holds()) return program;
  Diagnostics problems;
  XmlElement at{.name = "", .attributes = {}, .children = {}, .line = proof.line};
  problems.add(document->problem(at, "E184", proof.violation));
  return tl::unexpected(std::move(problems));
}

}  // namespace

Result<MscclProgram> parse_msccl(std::string_view text, const std::string& name) {
  return checked(parse_xml(text, name));
}

}  // namespace ringwright::collectives
