// flow run: runs a job file to its end on this machine.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/flow_jobs.hpp"
#include "cli/interruptible.hpp"
#include "cli/printer.hpp"
#include "flow/local_run.hpp"

namespace plim::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kMostWorkers = 1000;  // more processes than one machine can use
constexpr Nanos kShortestLease = 1s;         // workers send heartbeats at this interval

Failure run_failure(const Error& error, const std::string& tried) {
  Plm code = error.code == Code::already_exists ? Plm::already_running
             : error.code == Code::not_found    ? Plm::cannot_read
                                                : Plm::cannot_write;
  return Failure{.code = code,
                 .exit = exit_code(error.code),
                 .what = error.message,
                 .tried = tried,
                 .next = "see docs/flow.md"};
}

// Shows the progress of a run: on a terminal one line that is redrawn, otherwise a line from time
// to time. With -o json it prints one object per line to standard output.
class RunScreen {
 public:
  RunScreen(Context& context, bool json)
      : context_(context), json_(json), live_(!json && ::isatty(STDERR_FILENO) == 1) {
    quiet_ = context.values.boolean("quiet");
  }

  void progress(const flow::RunProgress& progress) {
    const SteadyTime now = system_clock().steady();
    const bool first = !drawn_ && progress.slices_done > 0;
    const Nanos interval = live_ ? Nanos(200ms) : Nanos(2s);
    if (!first && (!drawn_ || now - *drawn_ < interval)) return;
    drawn_ = now;
    if (json_) return (void)event(to_event(progress, "progress"));
    if (quiet_) return;
    say(live_ ? "\r\x1b[K" + flow::progress_line(progress) : flow::progress_line(progress) + "\n");
  }

  void notice(const std::string& text) {
    if (json_) return (void)event({{"event", "notice"}, {"message", text}});
    if (!quiet_) line(text);
  }

  // False: the reader has closed the output.
  bool print(std::string_view text) {
    wipe();
    if (!json_) return context_.world.out.write(text).has_value();
    return event({{"event", "output"}, {"text", text}});
  }

  void finish(const flow::RunProgress& progress) {
    if (json_) return (void)event(to_event(progress, "finished"));
    line(flow::final_line(progress));
  }

 private:
  bool event(json::object object) {
    return context_.world.out.write(to_json(json::value(std::move(object))) + "\n").has_value();
  }

  void line(const std::string& text) {
    wipe();
    say(text + "\n");
  }

  void wipe() {
    if (live_ && drawn_) say("\r\x1b[K");
  }

  void say(const std::string& text) { (void)context_.world.err.write(text); }

  Context& context_;
  bool json_;
  bool live_;
  bool quiet_ = false;
  std::optional<SteadyTime> drawn_;
};

// Runs the controller and stops it on a signal, on one loop.
class FlowRun {
 public:
  FlowRun(Loop& loop, flow::LocalRun& run) : loop_(loop), run_(run), tasks_(loop.executor()) {}

  Result<flow::RunProgress> to_end(flow::ControllerSettings settings,
                                   std::optional<std::uint64_t> limit, flow::Observer observer) {
    controller_ =
        run_.controller(loop_.executor(), std::move(settings), limit, std::move(observer));
    return run_to_end(loop_, main());
  }

  bool was_interrupted() const { return interrupted_; }

  void stop() { controller_->stop(); }

 private:
  Task<Result<flow::RunProgress>> main() {
    Signals signals(loop_.executor());
    tasks_.spawn("stop", stop_when_asked(signals));
    auto out = co_await controller_->run();
    co_await tasks_.stop();
    co_return out;
  }

  Task<void> stop_when_asked(Signals& signals) {
    co_await signals.stop_requested();
    interrupted_ = true;
    controller_->stop();
  }

  Loop& loop_;
  flow::LocalRun& run_;
  std::unique_ptr<flow::Controller> controller_;
  bool interrupted_ = false;
  TaskGroup tasks_;
};

Result<std::string> make_temporary_directory() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return fail_errno(error.value(), "cannot use TMPDIR for the state; pass --state DIR");
  std::string path = (parent / "plimsoll-flow.XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "cannot create " + path);
  return path;
}

Outcome<void> check_flags(const Context& context) {
  if (!context.values.text("resume").empty())
    for (std::string_view flag : {"state", "dry-run"})
      if (flag == "state" ? !context.values.text(flag).empty() : context.values.boolean(flag))
        return usage_failure(Plm::wrong_arguments,
                             fmt::format("--{} cannot be combined with --resume", flag));
  const std::int64_t workers = context.values.integer("workers");
  if (workers < 0 || workers > kMostWorkers)
    return usage_failure(Plm::bad_flag_value,
                         fmt::format("--workers: expected a number from 0 to {}", kMostWorkers));
  if (context.values.integer("limit") < 0)
    return usage_failure(Plm::bad_flag_value, "--limit: expected a number from 0");
  if (context.values.duration("lease") < kShortestLease)
    return usage_failure(Plm::bad_flag_value, "--lease: expected 1s or more");
  return {};
}

flow::ControllerSettings settings_of(const Context& context, const flow::Job& job) {
  const auto asked = static_cast<unsigned>(context.values.integer("workers"));
  const auto most = static_cast<unsigned>(kMostWorkers);
  flow::ControllerSettings out;
  out.crew = {.workers = asked > 0 ? asked : std::min(job.workers, most),
              .threads = context.values.boolean("threads"),
              .program = "/proc/self/exe"};
  out.lease = context.values.duration("lease");
  return out;
}

Outcome<int> show_slices(Context& context, const flow::Job& job) {
  auto source = flow::SliceSource::open(job);
  if (!source) return tl::unexpected(run_failure(source.error(), job.name));
  flow::LedgerChanges slices;
  auto total = source->total();
  if (auto made = source->make(5, system_clock().wall(), slices); !made)
    return tl::unexpected(run_failure(made.error(), job.name));
  std::string out = total ? fmt::format("{} slices; the first ones:\n", *total)
                          : std::string("the number of slices is unknown; the first ones:\n");
  for (const flow::Slice& slice : slices.created)
    out += fmt::format("  {}.{} {}\n", slice.key.slicer, slice.key.order, slice.request);
  PLIM_CLI_CHECK(context.world.out.write(out));
  return 0;
}

// Sets the job's environment variables in this process; its workers inherit them.
Outcome<void> take_environment(const flow::Job& job) {
  const json::value* given = job.document.if_contains("env_vars");
  if (given == nullptr || !given->is_object()) return {};
  for (const auto& [key, value] : given->as_object()) {
    std::string text = value.is_string() ? std::string(value.as_string()) : to_json(value);
    if (::setenv(std::string(key).c_str(), text.c_str(), 1) != 0)
      return usage_failure(Plm::bad_environment,
                           fmt::format("env_vars: {} is not a valid name of a variable",
                                       quote(std::string_view(key))));
  }
  return {};
}

struct Place {
  std::string directory;
  bool temporary = false;
};

Outcome<int> finish_run(Context& context, const Place& place, const flow::RunProgress& last,
                        bool interrupted) {
  if (last.status == flow::ExecutionStatus::completed) {
    std::error_code ignored;
    if (place.temporary) std::filesystem::remove_all(place.directory, ignored);
    return 0;
  }
  if (!context.values.boolean("quiet"))
    (void)context.world.err.write(
        fmt::format("continue with: plimsoll flow run --resume {}\n", place.directory));
  return last.status == flow::ExecutionStatus::stopped && interrupted ? kInterrupted : 1;
}

}  // namespace

Outcome<int> run_flow_run(Context& context) {
  const std::string& resume = context.values.text("resume");
  const bool json = context.values.boolean("json") || context.values.text("output") == "json";
  if (resume.empty() == context.arguments.empty())
    return usage_failure(Plm::wrong_arguments, "flow run needs either JOB or --resume DIR");
  PLIM_CLI_CHECK(check_flags(context));

  std::optional<flow::Job> job;
  if (resume.empty()) {
    PLIM_CLI_TRY(job, read_job(context, context.arguments[0]));
    if (!job) return kUnusableJob;
    if (context.values.boolean("dry-run")) return show_slices(context, *job);
  }
  Place place{.directory = resume.empty() ? context.values.text("state") : resume};
  if (place.directory.empty()) {
    auto made = make_temporary_directory();
    if (!made) return tl::unexpected(run_failure(made.error(), "--state"));
    place = {.directory = *made, .temporary = true};
  }
  auto run = job ? flow::LocalRun::begin(system_clock(), place.directory, std::move(*job))
                 : flow::LocalRun::resume(system_clock(), place.directory);
  if (!run) {
    std::error_code ignored;
    if (place.temporary) std::filesystem::remove(place.directory, ignored);
    return tl::unexpected(run_failure(
        run.error(), resume.empty() ? context.arguments[0] : fmt::format("--resume {}", resume)));
  }

  RunScreen screen(context, json);
  if (run->is_completed()) {
    screen.notice(fmt::format("execution {} is already completed", run->row().ex_id));
    return 0;
  }
  flow::Observer observer;
  observer.progress = [&](const flow::RunProgress& progress) { screen.progress(progress); };
  observer.notice = [&](const std::string& text) { screen.notice(text); };
  screen.notice(fmt::format("{} {} execution {}, state in {}", job ? "running" : "resuming",
                            run->job().name, run->row().ex_id, place.directory));
  PLIM_CLI_CHECK(take_environment(run->job()));
  Loop loop;
  FlowRun flow_run(loop, *run);
  // If the output is closed, the run has no use and stops.
  observer.print = [&](std::string_view text) {
    if (!screen.print(text)) flow_run.stop();
  };
  const std::int64_t limit = context.values.integer("limit");
  auto last = flow_run.to_end(
      settings_of(context, run->job()),
      limit > 0 ? std::optional(static_cast<std::uint64_t>(limit)) : std::nullopt, observer);
  if (!last) return tl::unexpected(run_failure(last.error(), place.directory));
  screen.finish(*last);
  return finish_run(context, place, *last, flow_run.was_interrupted());
}

}  // namespace plim::cli
