#include "workload/pipeline/schedule_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::workload::schedule_file_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Listed {
  ConfigDocument document;
  ListedSchedule schedule;

  explicit Listed(const std::string& text)
      : document(ConfigDocument::load_text("own.yaml", text).value()), schedule(read()) {}
  ListedSchedule read() {
    ConfigMap root = document.root();
    return read_listed_schedule(root);
  }
  std::vector<std::string> messages(int stages, int microbatches) {
    ConfigMap root = document.root();
    if (!document.log().diagnostics().has_errors()) check_listed_schedule(root, schedule, stages, microbatches);
    document.check_all_read();
    std::vector<std::string> result;
    for (const Diagnostic& diagnostic : document.log().diagnostics().all()) {
      result.push_back(std::to_string(diagnostic.place.line) + ": " + diagnostic.message);
    }
    return result;
  }
};

TEST(ScheduleFile, ALegalListIsTakenAsItIs) {
  Listed listed("stages:\n  0: F0 F1, B0 B1\n  1: F0 B0 F1 W0 B1 W1\n");
  EXPECT_THAT(listed.messages(2, 2), IsEmpty());
  EXPECT_THAT(listed.schedule.order[1],
              ElementsAre(Slot{Pass::kForward, 0, 0}, Slot{Pass::kInputGradient, 0, 0}, Slot{Pass::kForward, 1, 0},
                          Slot{Pass::kWeightGradient, 0, 0}, Slot{Pass::kInputGradient, 1, 0},
                          Slot{Pass::kWeightGradient, 1, 0}));
  EXPECT_EQ(listed.schedule.order[0][2].pass, Pass::kBackward);
}

TEST(ScheduleFile, ChunksHaveAPlacement) {
  Listed listed("placement: vee\nstages:\n  0: F0.0 F0.1 B0.1 B0.0\n  1: F0.0 F0.1 B0.1 B0.0\n");
  EXPECT_THAT(listed.messages(2, 1), IsEmpty());
  EXPECT_EQ(listed.schedule.chunks, 2);
}

TEST(ScheduleFile, InvalidListsAreReportedWithReasonAndLocation) {
  EXPECT_THAT(Listed("stages:\n  0: F0 B0 F1 B1\n  1: F0 F1 B0 B1\n").messages(2, 2),
              ElementsAre("2: stage 0: B0 waits forever: stage 0 in B0 for stage 1, stage 1 in F1 for stage 0 (pass 2 "
                          "of its line)"));
  EXPECT_THAT(Listed("stages:\n  0: F0 F1 B0 B1\n  1: F0 B0 F1\n").messages(2, 2),
              ElementsAre("3: stage 1: B1 is missing (pass 4 of its line)"));
  EXPECT_THAT(Listed("stages:\n  0: F0 W0 B0\n").messages(1, 1),
              ElementsAre("2: stage 0: W0 comes before B0 (pass 2 of its line)"));
  EXPECT_THAT(Listed("stages:\n  0: F0 X0\n").messages(1, 1), ElementsAre("2: 'X0' is not a pass"));
}

TEST(ScheduleFile, ItMustFitThePipeline) {
  EXPECT_THAT(Listed("stages:\n  0: F0 B0\n").messages(2, 1), ElementsAre("2: it lists stages 0 to 0, but pp is 2"));
  EXPECT_THAT(Listed("stages:\n  0: F0 B0\n").messages(1, 2),
              ElementsAre("2: it lists 1 microbatches, but a training step has 2"));
  EXPECT_THAT(Listed("stages:\n  0: F0 B0\n  2: F0 B0\n").messages(1, 1), testing::SizeIs(1));  // stage 1 is missing
}

}  // namespace
}  // namespace ringwright::workload::schedule_file_test
