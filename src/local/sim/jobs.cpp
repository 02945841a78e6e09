#include "local/sim/jobs.hpp"

#include <utility>

namespace plim::local::sim {

Jobs::Jobs(const Executor& loop, Clock& clock, std::size_t at_once, Simulator::Stats& stats,
           Schedule<Job>::Run run)
    : clock_(clock), stats_(stats), schedule_(loop, clock, at_once, std::move(run)) {}

void Jobs::add(Job job, Nanos after) {
  schedule_.add(clock_.steady() + after, std::move(job));
}

void Jobs::push(Job job, Tracked& tracked, Nanos after) {
  job.number = ++tracked.generation;
  tracked.pending = true;
  add(std::move(job), after);
}

void Jobs::settle(Tracked& tracked) {
  tracked.pending = false;
  tracked.looked = false;
  tracked.stage = nullptr;
  tracked.step = PodStep::none;
}

bool Jobs::retry(Job job, Tracked& tracked, const Error& error) {
  if (error.code == Code::not_found || error.code == Code::conflict) return false;
  note_failure("cannot write a simulated object", job.key, error);
  tracked.acted_on.clear();
  push(std::move(job), tracked, kRetry);
  return true;
}

void Jobs::note_failure(std::string_view message, std::string_view object, const Error& error) {
  ++stats_.failures;
  log_.write(log::Level::warn, "local", message, {{"object", object}, {"error", error}});
}

}  // namespace plim::local::sim
