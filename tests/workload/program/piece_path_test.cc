#include "workload/program/piece_path.h"

#include <functional>

#include <gtest/gtest.h>

namespace ringwright::workload::piece_path_test {
namespace {

// A kernel takes as many picoseconds as it has bytes, and so does a call.
class PerByte final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override { return Duration(kernel.bytes.count()); }
};

const CommStream kTensor{.dimension = DimensionId(0), .stream = 1};
const CommStream kData{.dimension = DimensionId(1), .stream = 2};

CollectiveSpec gather(std::int64_t bytes) { return {.kind = CollectiveKind::kAllGather, .bytes = Bytes(bytes)}; }

class Piece {
 public:
  SectionId kernel(std::int64_t bytes) {
    return tables.add_section({{.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(bytes)}});
  }
  std::int64_t path(const PiecePath::Write& write, bool with_calls = true) {
    const LeastCallTime calls = [](DimensionId, const CollectiveSpec& spec) { return Duration(spec.bytes.count()); };
    const LeastCallTime none;
    return PiecePath(tables, compute, with_calls ? calls : none, 3).of(write).count();
  }

  PerByte compute;
  GraphTables tables;
};

TEST(PiecePath, OfKernelsAndCallsInTurnIsTheirSum) {
  Piece piece;
  const SectionId ten = piece.kernel(10), seven = piece.kernel(7);
  const auto write = [&](ProgramWriter& writer) {
    writer.wait(writer.collective(kTensor, gather(100), "gather"));
    writer.compute(ten);
    writer.wait(writer.collective(kTensor, gather(200), "gather"));
    writer.compute(seven);
  };
  EXPECT_EQ(piece.path(write), 317);
  EXPECT_EQ(piece.path(write, false), 17);
}

// What the next piece waits for counts, what nobody waits for does not.
TEST(PiecePath, EndsWhenTheNextTaskOfTheComputeStreamMayBegin) {
  Piece piece;
  const SectionId ten = piece.kernel(10);
  EXPECT_EQ(piece.path([&](ProgramWriter& writer) {
    writer.compute(ten);
    writer.wait(writer.collective(kTensor, gather(100), "awaited"));
  }),
            110);
  EXPECT_EQ(piece.path([&](ProgramWriter& writer) {
    writer.compute(ten);
    static_cast<void>(writer.collective(kTensor, gather(100), "not awaited"));
  }),
            10);
  EXPECT_EQ(piece.path([](ProgramWriter&) {}), 0);
}

// A call during a kernel hides the shorter of both; calls of one stream run one after another.
TEST(PiecePath, CountsWhatRunsAtOnceOnce) {
  Piece piece;
  const SectionId ten = piece.kernel(10), forty = piece.kernel(40);
  const auto overlapped = [&](SectionId during) {
    return piece.path([&](ProgramWriter& writer) {
      writer.compute(ten);
      const TaskIndex call = writer.collective(kTensor, gather(20), "overlapped");
      writer.compute(during);
      writer.wait(call);
      writer.compute(ten);
    });
  };
  EXPECT_EQ(overlapped(ten), 10 + 20 + 10);
  EXPECT_EQ(overlapped(forty), 10 + 40 + 10);
  const auto two_calls = [&](const CommStream& second) {
    return piece.path([&](ProgramWriter& writer) {
      const TaskIndex one = writer.collective(kTensor, gather(20), "one");
      const TaskIndex other = writer.collective(second, gather(30), "other");
      writer.wait(one);
      writer.wait(other);
    });
  };
  EXPECT_EQ(two_calls(kTensor), 50);
  EXPECT_EQ(two_calls(kData), 30);
}

// Parameters that are gathered ahead may be there when the piece begins.
TEST(PiecePath, CountsNoCallThatMayHaveBegunBefore) {
  Piece piece;
  const SectionId ten = piece.kernel(10);
  EXPECT_EQ(piece.path([&](ProgramWriter& writer) {
    writer.wait(writer.collective_after(kData, gather(500), "ahead", {}));
    writer.compute(ten);
  }),
            10);
  EXPECT_EQ(piece.path([&](ProgramWriter& writer) {
    writer.wait(writer.collective_after(kData, gather(500), "ahead", writer.last_computation()));
    writer.compute(ten);
  }),
            10);
}

}  // namespace
}  // namespace ringwright::workload::piece_path_test
