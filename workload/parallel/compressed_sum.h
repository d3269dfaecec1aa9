// The sum of one bucket's compressed gradients over replicas.
//
// Linear codecs all-reduce what they encode, PowerSGD its two factors one after the other. Others all-gather: every
// rank receives n encoded buckets, decodes and sums them, so that with n ranks and e encoded bytes per rank
// (n - 1) e bytes arrive, against 2 (n - 1) / n of the gradients' bytes for a ring all-reduce.
#pragma once

#include <string>

#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class CompressedSum {
 public:
  CompressedSum(SectionTable& sections, std::int64_t elements, std::int64_t ranks);

  // Encodes on the compute stream, as PyTorch's communication hooks do; the rest happens on the channel's stream. The
  // result is the task after which the sums are there.
  TaskIndex write(ProgramWriter& writer, const CommStream& channel, const std::string& prefix) const;

 private:
  SectionId encode_;
  SectionId second_ = 0;  // of PowerSGD
  SectionId decode_;
  GradientCompression compression_;
  Bytes exchanged_;  // by one collective
};

}  // namespace ringwright::workload
