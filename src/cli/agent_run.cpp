#include "cli/agent_run.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "agent/http_endpoint.hpp"
#include "base/event.hpp"
#include "base/file_watch.hpp"
#include "base/log.hpp"
#include "base/loop.hpp"
#include "base/metrics.hpp"
#include "base/signals.hpp"

namespace plim::cli {
namespace {

// The agent from start to stop; measuring starts anew after each good reload and, beside other
// modules, after each failure. Lives on one loop.
class AgentRun {
 public:
  AgentRun(const Context& context, agent::AgentConfig config, agent::RunnerOptions options,
           roles::AgentModules others)
      : context_(context),
        config_(std::move(config)),
        options_(std::move(options)),
        others_(std::move(others)) {
    options_.alone = others_.empty();
    if (options_.alone) return;
    options_.usual_listen = roles::agent_listen(context.values.text("metrics-listen"));
    health_.emplace("measure");
  }

  Outcome<int> run() {
    Loop loop;
    loop.run(main());
    if (failure_) return tl::unexpected(std::move(*failure_));
    return 0;
  }

 private:
  enum class Why { running, done, stop, reload };

  Task<int> main() {
    Executor loop = co_await current_loop();
    Signals signals(loop, {.reload = true});
    changed_ = std::make_unique<Event>(loop);
    const auto source = [this](const std::string& listen) { return shown_at(listen); };
    endpoints_ = std::make_unique<agent::Endpoints>(loop, source);
    TaskGroup watching(loop), measuring(loop);
    watching.spawn("stop", wait_for_stop(&signals));
    if (co_await open_endpoints()) {
      (void)others_.start(loop, {});
      watching.spawn("reload", wait_for_reload(&signals));
      watching.spawn("file", wait_for_change());
      for (bool again = true; again;) {
        co_await measure_once(loop, &measuring);
        again = why_ == Why::reload || go_back() || co_await wait_for_next_start();
      }
    }
    co_await measuring.stop();
    co_await watching.stop();
    co_await others_.stop();
    co_await endpoints_->stop();
    // What belongs to the loop ends before it.
    others_ = roles::AgentModules(roles::AgentModules::Company::others);
    endpoints_.reset();
    changed_.reset();
    co_return 0;
  }

  Task<bool> open_endpoints() {
    const auto opened = co_await endpoints_->open(scrape_addresses(config_.measure, options_));
    if (!opened) failure_ = own_failure(opened.error());
    co_return opened.has_value();
  }

  // From its start to its failure, the end of the iterations, or a signal.
  Task<void> measure_once(Executor loop, TaskGroup* measuring) {
    if (why_ != Why::stop) why_ = Why::running;
    failure_.reset();
    if (health_) health_->started();
    if (!co_await open_endpoints()) co_return;
    auto made = agent::MeasureRunner::make(loop, system_clock(), config_.measure, options_);
    if (!made) {
      failure_ = own_failure(made.error());
      co_return;
    }
    runner_ = std::move(*made);
    measuring->spawn("measure", measure());
    while (why_ == Why::running) {
      if (health_ && runner_->ready()) health_->works();
      if (health_ && health_->failing())
        (void)co_await changed_->wait_until(system_clock(),
                                            system_clock().steady() + roles::ModuleHealth::kLook);
      else
        co_await changed_->wait();
    }
    measuring->cancel();
    co_await measuring->join();
    co_await runner_->stop();
    runner_.reset();
  }

  // A file that reads well may still ask for what this machine does not have. What ran before runs
  // again then.
  bool go_back() {
    if (!failure_ || !before_ || why_ == Why::stop) return false;
    log::error("agent", "the new configuration cannot run; the old one stays",
               {{"error", failure_->what}});
    config_ = *std::exchange(before_, std::nullopt);
    return true;
  }

  // Beside other modules, which go on meanwhile. Who asked for some iterations wants to know that
  // there are none.
  Task<bool> wait_for_next_start() {
    if (!failure_ || !health_ || options_.iterations != 0 || why_ == Why::stop) co_return false;
    const SteadyTime again = health_->failed(*failure_);
    failure_.reset();
    why_ = Why::running;
    while (why_ == Why::running && system_clock().steady() < again)
      (void)co_await changed_->wait_until(system_clock(), again);
    co_return why_ != Why::stop;
  }

  static Failure own_failure(const Error& error) {
    return daemon_failure(Plm::bad_agent_config, error);
  }

  void say(Why why) {
    if (why_ != Why::stop) why_ = why;
    changed_->notify();
  }

  Task<void> measure() {
    auto ran = co_await runner_->run();
    if (!ran) failure_ = own_failure(ran.error());
    say(Why::done);
  }

  Task<void> wait_for_stop(Signals* signals) {
    co_await signals->stop_requested();
    say(Why::stop);
  }

  Task<void> wait_for_reload(Signals* signals) {
    for (;;) {
      co_await signals->reload_requested();
      others_.reload();
      reload();
    }
  }

  // Files that a kubelet mounts from a ConfigMap change without a signal.
  Task<void> wait_for_change() {
    Executor loop = co_await current_loop();
    auto watch = FileWatch::open(loop, {context_.values.text("config")});
    if (!watch) {
      log::info("agent", "only SIGHUP rereads the configuration", {{"reason", watch.error()}});
      co_return;
    }
    for (;;) {
      (void)co_await (*watch)->next();
      reload();
    }
  }

  void reload() {
    auto loaded = agent::load_config(context_.values.text("config"), context_.world.env);
    const auto can = loaded ? agent::can_run(loaded->config) : Result<void>(loaded.error());
    if (!can) {
      log::error("agent", "the configuration was not reread; the old one stays",
                 {{"error", can.error()}});
      return;
    }
    log::info("agent", "configuration reread");
    if (why_ == Why::running && runner_ != nullptr) before_ = config_;
    config_ = std::move(loaded->config);
    say(Why::reload);
  }

  // Of all modules, whether this one runs now or not.
  agent::EndpointSource shown_at(const std::string& listen) {
    return {.metrics = [this, listen] { return metrics_at(listen); },
            .alive = [this] { return runner_ == nullptr || runner_->alive(); },
            .not_ready = [this] { return not_ready(); },
            .state = [this] { return state(); }};
  }

  std::shared_ptr<const std::string> metrics_at(const std::string& listen) const {
    std::shared_ptr<const std::string> measured;
    if (runner_ != nullptr)
      for (const auto& scrape : runner_->scrapes())
        if (scrape->listen == listen) measured = scrape->text;
    if (options_.alone) return measured;
    const std::string others = metrics::default_registry().expose();
    return std::make_shared<const std::string>((measured ? *measured : "") + others);
  }

  std::string not_ready() const {
    std::string out;
    if (health_ && health_->failing())
      out = fmt::format("measure: down: {}", health_->problem());
    else if (runner_ == nullptr || !runner_->ready())
      out = "measure: no iteration yet";
    const std::string more = others_.not_ready();
    return out.empty() || more.empty() ? out + more : out + "\n" + more;
  }

  json::value state() const {
    json::value out = runner_ == nullptr ? json::object() : runner_->state();
    json::value more = others_.state();
    for (auto& [module, state] : more.as_object()) out.as_object()[module] = std::move(state);
    return out;
  }

  const Context& context_;
  agent::AgentConfig config_;
  std::optional<agent::AgentConfig> before_;  // what ran until the last change
  agent::RunnerOptions options_;
  std::unique_ptr<agent::Endpoints> endpoints_;
  std::unique_ptr<agent::MeasureRunner> runner_;
  roles::AgentModules others_;
  std::optional<roles::ModuleHealth> health_;  // none: it is alone, and ends when it fails
  std::unique_ptr<Event> changed_;
  Why why_ = Why::running;
  std::optional<Failure> failure_;
};

}  // namespace

Outcome<int> run_measuring(const Context& context, agent::AgentConfig config,
                           agent::RunnerOptions options, roles::AgentModules others) {
  return AgentRun(context, std::move(config), std::move(options), std::move(others)).run();
}

}  // namespace plim::cli
