#include "local/kubelet/runtime/worker_phase.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace plim::local::kubelet {
namespace {

constexpr std::array<std::string_view, 13> kPhaseNames{
    "arriving",   "rejected", "withdrawn", "restored", "running",  "finishing", "stopping",
    "suspending", "cleaning", "away",      "ended",    "deleting", "gone"};
constexpr std::array kAllWishes{PodWish::run, PodWish::suspend, PodWish::terminate, PodWish::remove,
                                PodWish::forget};
constexpr std::array kAllResults{PhaseResult::none, PhaseResult::accepted, PhaseResult::rejected,
                                 PhaseResult::over, PhaseResult::finished, PhaseResult::expired,
                                 PhaseResult::done};

std::vector<WorkerPhase> all_phases() {
  std::vector<WorkerPhase> out;
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) out.push_back(static_cast<WorkerPhase>(i));
  return out;
}

std::string_view phase_name(WorkerPhase phase) {
  return kPhaseNames.at(static_cast<std::size_t>(phase));
}

// The phases that follow without further wishes if the work of each phase ends as usual.
std::string phases_from(WorkerPhase phase, PhaseResult result, PodWish wish) {
  std::string out(phase_name(phase));
  for (int steps = 0; steps < 10; ++steps) {
    const WorkerPhase next = next_phase(phase, result, wish);
    if (next == phase) break;
    out += fmt::format(" {}", phase_name(next));
    result = next == WorkerPhase::running ? PhaseResult::none : PhaseResult::done;
    phase = next;
  }
  return out;
}

struct PhaseRow {
  WorkerPhase phase;
  PhaseResult result;
  PodWish wish;
  const char* want;
};

TEST(WorkerPhase, follows_results_and_wishes) {
  using enum WorkerPhase;
  const std::vector<PhaseRow> rows{
      // Admission.
      {arriving, PhaseResult::none, PodWish::run, "arriving"},
      {arriving, PhaseResult::accepted, PodWish::run, "arriving running"},
      {arriving, PhaseResult::rejected, PodWish::run, "arriving rejected ended"},
      {arriving, PhaseResult::rejected, PodWish::suspend, "arriving rejected ended"},
      {arriving, PhaseResult::rejected, PodWish::remove, "arriving rejected ended deleting"},
      {arriving, PhaseResult::over, PodWish::run, "arriving restored ended"},
      {arriving, PhaseResult::over, PodWish::suspend, "arriving restored ended"},
      {arriving, PhaseResult::over, PodWish::forget, "arriving restored ended gone"},
      {arriving, PhaseResult::none, PodWish::suspend, "arriving suspending away"},
      {arriving, PhaseResult::none, PodWish::terminate, "arriving withdrawn ended"},
      {arriving, PhaseResult::none, PodWish::remove, "arriving withdrawn ended deleting"},
      {arriving, PhaseResult::none, PodWish::forget, "arriving withdrawn ended gone"},
      // An accepted pod stops like any other.
      {arriving, PhaseResult::accepted, PodWish::suspend,
       "arriving running stopping suspending away"},
      {arriving, PhaseResult::accepted, PodWish::remove,
       "arriving running stopping cleaning ended deleting"},

      {running, PhaseResult::none, PodWish::run, "running"},
      {running, PhaseResult::finished, PodWish::run, "running finishing cleaning ended"},
      {running, PhaseResult::expired, PodWish::run, "running stopping cleaning ended"},
      {running, PhaseResult::none, PodWish::suspend, "running stopping suspending away"},
      {running, PhaseResult::none, PodWish::terminate, "running stopping cleaning ended"},
      {running, PhaseResult::none, PodWish::remove, "running stopping cleaning ended deleting"},
      {running, PhaseResult::none, PodWish::forget, "running stopping cleaning ended gone"},
      // A pod that has finished is reported even if its node is about to shut down.
      {running, PhaseResult::finished, PodWish::suspend, "running finishing cleaning ended"},
      {running, PhaseResult::finished, PodWish::remove,
       "running finishing cleaning ended deleting"},

      // A deletion during the stop outranks the shutdown that began it.
      {stopping, PhaseResult::none, PodWish::suspend, "stopping"},
      {stopping, PhaseResult::done, PodWish::remove, "stopping cleaning ended deleting"},
      {suspending, PhaseResult::done, PodWish::remove, "suspending away"},
      {away, PhaseResult::done, PodWish::forget, "away"},
      {ended, PhaseResult::none, PodWish::run, "ended"},
      {ended, PhaseResult::none, PodWish::terminate, "ended"},
      {deleting, PhaseResult::done, PodWish::remove, "deleting"},
      {gone, PhaseResult::done, PodWish::forget, "gone"},
  };
  for (const PhaseRow& row : rows)
    EXPECT_EQ(phases_from(row.phase, row.result, row.wish), row.want);
}

TEST(WorkerPhase, ends_for_every_wish_but_run) {
  for (WorkerPhase phase : all_phases())
    for (PodWish wish : kAllWishes) {
      if (wish == PodWish::run) continue;
      const std::string got = phases_from(phase, PhaseResult::done, wish);
      const std::string_view last = std::string_view(got).substr(got.rfind(' ') + 1);
      bool is_final = false;
      for (WorkerPhase one : all_phases())
        if (phase_name(one) == last) is_final = has_ended(one);
      EXPECT_TRUE(is_final) << got;
    }
}

// No phase without processes is followed by a phase with processes.
TEST(WorkerPhase, never_comes_back_from_its_end) {
  for (WorkerPhase phase : all_phases())
    for (PhaseResult result : kAllResults)
      for (PodWish wish : kAllWishes) {
        const WorkerPhase next = next_phase(phase, result, wish);
        if (has_ended(phase)) {
          EXPECT_TRUE(has_ended(next)) << phase_name(phase);
          EXPECT_FALSE(holds_resources(next)) << phase_name(phase);
        }
      }
}

TEST(WorkerPhase, holds_resources_from_admission_to_the_end) {
  std::string holding;
  for (WorkerPhase phase : all_phases())
    if (holds_resources(phase)) holding += fmt::format("{} ", phase_name(phase));
  EXPECT_EQ(holding, "restored running finishing stopping suspending cleaning ");
}

TEST(WorkerPhase, says_why_a_pod_failed) {
  using enum WorkerPhase;

  struct FailureRow {
    WorkerPhase phase;
    PodWish wish;
    const char* want;
  };

  const std::vector<FailureRow> rows{
      {stopping, PodWish::run, "DeadlineExceeded"},
      {stopping, PodWish::terminate, "Terminated"},
      {withdrawn, PodWish::terminate, "Terminated"},
      {stopping, PodWish::suspend, ""},
      {stopping, PodWish::remove, ""},
      {withdrawn, PodWish::remove, ""},
      {stopping, PodWish::forget, ""},
      {finishing, PodWish::run, ""},
      {finishing, PodWish::terminate, ""},
      {rejected, PodWish::terminate, ""},
      {restored, PodWish::terminate, ""},
  };
  for (const FailureRow& row : rows) {
    const auto failure = failure_on(row.phase, row.wish);
    EXPECT_EQ(failure ? failure->reason : "", row.want) << phase_name(row.phase);
  }
}

}  // namespace
}  // namespace plim::local::kubelet
