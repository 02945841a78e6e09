#include "local/kubelet/runtime/probe_state.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace plim::local::kubelet {
namespace {

TEST(ProbeSettings, have_the_defaults_of_kubernetes) {
  const ProbeSettings settings = probe_settings(json::object{{"periodSeconds", 0}});
  EXPECT_EQ(settings.period, std::chrono::seconds(10));
  EXPECT_EQ(settings.timeout, std::chrono::seconds(1));
  EXPECT_EQ(settings.initial_delay, std::chrono::seconds(0));
  EXPECT_EQ(settings.success_threshold, 1);
  EXPECT_EQ(settings.failure_threshold, 3);
  EXPECT_FALSE(settings.termination_grace);
}

struct ProbeRow {
  ProbeKind kind;
  int success, failure;
  std::string_view results;   // + passed, - failed
  std::string_view verdicts;  // after each result; upper case if it is reported
};

TEST(ProbeState, follows_the_thresholds) {
  const std::vector<ProbeRow> rows{
      {ProbeKind::readiness, 1, 3, "+--+---",
       "Pppppp"
       "F"},
      {ProbeKind::readiness, 2, 1, "+++-", "fPpF"},
      {ProbeKind::readiness, 1, 3, "---", "ffF"},
      {ProbeKind::liveness, 1, 3, "--+---", "pppppF"},
      {ProbeKind::liveness, 1, 1, "+-", "pF"},
      {ProbeKind::startup, 1, 30, "--+", "ffP"},
  };
  for (const ProbeRow& row : rows) {
    ProbeSettings settings;
    settings.success_threshold = row.success;
    settings.failure_threshold = row.failure;
    ProbeState state(row.kind, settings);
    std::string seen;
    for (char result : row.results) {
      const bool news = state.record(result == '+');
      seen += state.passed() ? (news ? 'P' : 'p') : (news ? 'F' : 'f');
    }
    EXPECT_EQ(seen, row.verdicts) << row.results;
  }
}

}  // namespace
}  // namespace plim::local::kubelet
