// Context parallelism of layers with a state: ranks exchange heads for tokens before the state's pass through the
// sequence and after it, whatever attention does.
//
// Megatron-LM, ssm/mamba_context_parallel.py: five all-to-alls for z, x, B, C and time steps, one for the result;
// ssm/gated_delta_net/common.py: one for all columns, one for the result. Backward the same of the gradients. Its
// linear_cp_mode chunkwise, which passes states from rank to rank, is not modelled.
#pragma once

#include <optional>

#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class ExchangedHeads {
 public:
  // No stream: cp is 1.
  ExchangedHeads(SectionTable& sections, std::optional<CommStream> stream) : sections_(sections), stream_(stream) {}

  // Whether this body of a layer, forward or backward, is written in sections with exchanges in between.
  [[nodiscard]] bool cuts(LayerSection body) const;
  [[nodiscard]] static LayerSection first_of(LayerSection body);
  [[nodiscard]] static LayerSection last_of(LayerSection body);
  // What is computed again before the first section, with its exchange.
  void again(ProgramWriter& writer, LayerSection body);
  // All that lies between the first and the last section.
  void between(ProgramWriter& writer, LayerSection body);
  void write(ProgramWriter& writer, LayerSection body);

 private:
  void exchange_inputs(ProgramWriter& writer, LayerSection body);
  void exchange_result(ProgramWriter& writer, LayerSection body);
  void exchange(ProgramWriter& writer, std::int64_t columns);

  SectionTable& sections_;
  std::optional<CommStream> stream_;
};

}  // namespace ringwright::workload
