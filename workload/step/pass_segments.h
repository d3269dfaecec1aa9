// Passes that are written once, as segments, and then called: those that differ in their microbatch alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "workload/layout/stage_chunks.h"
#include "workload/pipeline/schedule.h"
#include "workload/program/program_writer.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Before and after the results of a combined pass are sent.
enum class PairPart { kResults, kRest };

// Passes that were written before, by everything that determines their timeline: stages with equal layers use equal
// segments. Empty for a pass without a segment.
struct WrittenPasses {
  using Layers = std::tuple<std::vector<PointKind>, bool>;  // the chunk's points, and whether it has the head
  std::map<std::tuple<Layers, Pass, ProgramWriter::CallShape>, std::optional<std::uint32_t>> segments;
  // Of combined passes: layers of the forward pass, of the backward pass.
  std::map<std::tuple<Layers, Layers, PairPart, ProgramWriter::CallShape>, std::optional<std::uint32_t>> pairs;
};

// Of one stage.
class PassSegments {
 public:
  // `written`: by stages of the same kernels.
  PassSegments(Passes passes, WrittenPasses& written) : passes_(passes), written_(written) {}

  // Calls the pass, or has it written by `write`.
  template <class Write>
  void write_pass(ProgramWriter& writer, const Slot& slot, const ModelChunk& part, Write&& write) {
    if (passes_ == Passes::kWrittenOut) return write();
    const ProgramWriter::CallShape shape = writer.call_shape();
    for (const Known& known : known_of(slot)) {
      if (known.shape == shape) return known.segment ? writer.call(*known.segment) : write();
    }
    const std::optional<std::uint32_t>* const known = find(slot, part, shape);
    if (known != nullptr) return *known ? writer.call(**known) : write();
    writer.begin_segment();
    write();
    add(slot, part, shape, writer.end_segment());
  }

  // The same for a forward and a backward pass in turns.
  template <class Write>
  void write_pair(ProgramWriter& writer, const ModelChunk& forward, const ModelChunk& backward, PairPart part,
                  Write&& write) {
    if (passes_ == Passes::kWrittenOut) return write();
    const std::tuple key(WrittenPasses::Layers(forward.points, forward.head),
                         WrittenPasses::Layers(backward.points, backward.head), part, writer.call_shape());
    const auto known = written_.pairs.find(key);
    if (known != written_.pairs.end()) return known->second ? writer.call(*known->second) : write();
    writer.begin_segment();
    write();
    written_.pairs.emplace(key, writer.end_segment());
  }

 private:
  struct Known {
    ProgramWriter::CallShape shape;
    std::optional<std::uint32_t> segment;
  };
  // Of what other stages have written; null: this pass is the first of its kind.
  [[nodiscard]] const std::optional<std::uint32_t>* find(const Slot& slot, const ModelChunk& part,
                                                         const ProgramWriter::CallShape& shape);
  static constexpr std::size_t kPasses = 4;
  [[nodiscard]] std::vector<Known>& known_of(const Slot& slot) {
    const std::size_t place = static_cast<std::size_t>(slot.chunk) * kPasses + static_cast<std::size_t>(slot.pass);
    if (place >= known_.size()) known_.resize(place + 1);
    return known_[place];
  }
  void add(const Slot& slot, const ModelChunk& part, const ProgramWriter::CallShape& shape,
           std::optional<std::uint32_t> segment);

  Passes passes_;
  WrittenPasses& written_;
  std::vector<std::vector<Known>> known_;  // the written passes that this stage has found, by chunk and pass
};

}  // namespace ringwright::workload
