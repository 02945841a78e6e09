// flow run: a job file to its end, here.
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

#include "base/loop.hpp"
#include "base/signals.hpp"
#include "cli/commands.hpp"
#include "cli/flow_jobs.hpp"
#include "cli/output.hpp"
#include "flow/local_run.hpp"

namespace plim::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kInterrupted = 130;

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

// What people see of a run: on a terminal one line that is redrawn, else a line now and then; with
// -o json one object per line on standard output.
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
    if (json_) return event(to_event(progress, "progress"));
    if (quiet_) return;
    say(live_ ? "\r\x1b[K" + flow::progress_line(progress) : flow::progress_line(progress) + "\n");
  }

  void notice(const std::string& text) {
    if (json_) return event({{"event", "notice"}, {"message", text}});
    if (!quiet_) line(text);
  }

  void print(std::string_view text) {
    wipe();
    if (json_)
      event({{"event", "output"}, {"text", text}});
    else
      (void)context_.world.out.write(text);
  }

  void finish(const flow::RunProgress& progress) {
    if (json_) return event(to_event(progress, "finished"));
    line(flow::final_line(progress));
  }

 private:
  void event(json::object object) {
    (void)context_.world.out.write(to_json(json::value(std::move(object))) + "\n");
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

// The controller and the wish to stop it, on one loop.
class FlowRun {
 public:
  FlowRun(Loop& loop, flow::LocalRun& run) : loop_(loop), run_(run), tasks_(loop.executor()) {}

  Result<flow::RunProgress> to_end(flow::ControllerSettings settings,
                                   std::optional<std::uint64_t> limit, flow::Observer observer) {
    auto made = run_.controller(loop_.executor(), std::move(settings), limit, std::move(observer));
    if (!made) return made.error();
    controller_ = std::move(*made);
    return run_to_end(loop_, main());
  }

  bool was_interrupted() const { return interrupted_; }

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
  std::string path = (std::filesystem::temp_directory_path() / "plimsoll-flow.XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "cannot make " + path);
  return path;
}

flow::ControllerSettings settings_of(const Context& context, const flow::Job& job) {
  const auto asked = static_cast<unsigned>(context.values.integer("workers"));
  flow::ControllerSettings out;
  out.crew = {.workers = asked > 0 ? asked : job.workers,
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
  if (auto made = source->make(5, slices); !made)
    return tl::unexpected(run_failure(made.error(), job.name));
  std::string out = total ? fmt::format("{} slices, the first of them:\n", *total)
                          : std::string("the number of slices is not known; the first of them:\n");
  for (const flow::Slice& slice : slices.created)
    out += fmt::format("  {}.{} {}\n", slice.key.slicer, slice.key.order, slice.request);
  PLIM_CLI_CHECK(context.world.out.write(out));
  return 0;
}

struct Place {
  std::string directory;
  bool temporary = false;
};

Outcome<int> finish_run(Context& context, const Place& place, const flow::RunProgress& last,
                        bool interrupted) {
  if (last.status == "completed") {
    std::error_code ignored;
    if (place.temporary) std::filesystem::remove_all(place.directory, ignored);
    return 0;
  }
  if (!context.values.boolean("quiet"))
    (void)context.world.err.write(
        fmt::format("continue with: plimsoll flow run --resume {}\n", place.directory));
  return last.status == "stopped" && interrupted ? kInterrupted : 1;
}

}  // namespace

Outcome<int> run_flow_run(Context& context) {
  const std::string& resume = context.values.text("resume");
  const bool json = context.values.boolean("json") || context.values.text("output") == "json";
  if (resume.empty() == context.arguments.empty())
    return usage_failure(Plm::wrong_arguments, "flow run needs either JOB or --resume DIR");

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
  auto run = job ? flow::LocalRun::begin(place.directory, std::move(*job))
                 : flow::LocalRun::resume(place.directory);
  if (!run) return tl::unexpected(run_failure(run.error(), place.directory));

  RunScreen screen(context, json);
  if (run->is_completed()) {
    screen.notice(fmt::format("execution {} is completed already", run->row().ex_id));
    return 0;
  }
  flow::Observer observer;
  observer.progress = [&](const flow::RunProgress& progress) { screen.progress(progress); };
  observer.print = [&](std::string_view text) { screen.print(text); };
  observer.notice = [&](const std::string& text) { screen.notice(text); };
  screen.notice(fmt::format("{} {} execution {}, state in {}", job ? "running" : "resuming",
                            run->job().name, run->row().ex_id, place.directory));
  Loop loop;
  FlowRun flow_run(loop, *run);
  const std::int64_t limit = context.values.integer("limit");
  auto last = flow_run.to_end(
      settings_of(context, run->job()),
      limit > 0 ? std::optional(static_cast<std::uint64_t>(limit)) : std::nullopt, observer);
  if (!last) return tl::unexpected(run_failure(last.error(), place.directory));
  screen.finish(*last);
  return finish_run(context, place, *last, flow_run.was_interrupted());
}

}  // namespace plim::cli
