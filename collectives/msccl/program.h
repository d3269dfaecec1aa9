// A collective algorithm from an MSCCL XML file: the operations of each thread block of each GPU, chunk by chunk.
//
//     <algo name ngpus nchannels nchunksperloop proto coll inplace outofplace minBytes maxBytes>
//       <gpu id i_chunks o_chunks s_chunks> <copy i_off o_off/>
//         <tb id send recv chan> <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

enum class MscclBuffer : std::uint8_t { kInput, kOutput, kScratch };

// What a step does; kNop only waits.
struct MscclAction {
  std::string_view name;  // as in the file
  bool receives = false;
  bool sends = false;
  bool reads = false;   // its source, which is added to what was received
  bool stores = false;  // to its destination
  bool adds_to_destination = false;
};

struct MscclStep {
  const MscclAction* action = nullptr;
  MscclBuffer source_buffer = MscclBuffer::kInput;
  MscclBuffer target_buffer = MscclBuffer::kInput;
  int source = 0;  // first chunk
  int target = 0;
  int count = 0;   // chunks
  int after_block = -1;  // of the same GPU, by position in the list; -1: no wait
  int after_step = -1;
  int line = 0;
};

struct MscclBlock {
  int id = 0;
  int channel = 0;
  int send = -1;  // peers; -1: none
  int receive = -1;
  int receive_block = -1;  // the peer's block that sends to this one, by position in its list
  int line = 0;
  std::vector<MscclStep> steps;
};

struct MscclCopy {
  int input = 0;
  int output = 0;
};

struct MscclGpu {
  int inputs = 0;
  int outputs = 0;
  int scratch = 0;
  int line = 0;
  std::vector<MscclCopy> copies;  // before the first step
  std::vector<MscclBlock> blocks;
};

struct MscclProgram {
  std::string name;
  std::string file;
  std::optional<CollectiveKind> kind;  // empty: "custom", without a defined result
  int chunks = 1;                      // of the whole buffer
  int channels = 1;
  int threads = 0;  // 0: the protocol's number
  Protocol protocol = Protocol::kSimple;
  bool in_place = false;
  Bytes min_bytes;
  Bytes max_bytes;  // exclusive
  std::vector<MscclGpu> gpus;

  [[nodiscard]] int ranks() const { return static_cast<int>(gpus.size()); }
  // A rank's part of the whole buffer, in chunks.
  [[nodiscard]] int chunks_per_rank() const { return std::max(1, chunks / ranks()); }
};

// Parsed, joined and proved (proof.h). Reports as many mistakes as possible at once, each with its line.
[[nodiscard]] Result<MscclProgram> parse_msccl(std::string_view text, const std::string& name);

}  // namespace ringwright::collectives
