#include "roles/agent_modules.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"
#include "roles/agent_role.hpp"

namespace plim::roles {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Story = std::vector<std::string>;

// Records its calls.
class ToldModule final : public AgentModule {
 public:
  enum class Kind { works, off, fails, gives_up, finishes };

  ToldModule(std::string_view name, Story& story, Kind kind = Kind::works)
      : AgentModule(name, Plm::bad_pool_config), story_(story), kind_(kind) {}

  void becomes(Kind kind) { kind_ = kind; }

  void gives_up(std::string why) { host_.give_up(fail(Code::invalid, std::move(why))); }

  void finishes() { host_.finish(); }

  Task<Result<void>> start(ModuleHost host) override {
    note("starts");
    host_ = std::move(host);
    if (kind_ == Kind::fails) co_return fail(Code::invalid, "there is no file");
    if (kind_ == Kind::gives_up) gives_up("the file is wrong");
    if (kind_ == Kind::finishes) finishes();
    co_return Result<void>();
  }

  Task<void> stop() override {
    note("stops");
    co_return;
  }

  void reload() override { note("rereads"); }

  bool up() const override { return kind_ != Kind::off; }

  std::string not_ready() const override {
    return is_ready ? "" : std::string(name()) + ": not yet";
  }

  json::value state() const override { return json::object{{name(), up()}}; }

  bool is_vital() const override { return vital; }

  bool measures() const override { return measures_; }

  std::shared_ptr<const std::string> metrics(const std::string& address) const override {
    if (!measures_) return nullptr;
    return std::make_shared<const std::string>(fmt::format("measured at {}\n", address));
  }

  void does_measure() { measures_ = true; }

  bool is_ready = false, vital = false;

 private:
  void note(std::string_view what) {
    story_.push_back(std::string(name()) + " " + std::string(what));
  }

  Story& story_;
  Kind kind_;
  bool measures_ = false;
  ModuleHost host_;
};

using Kind = ToldModule::Kind;
using Company = AgentModules::Company;

class ModulesOfAnAgent : public ::testing::Test {
 protected:
  AgentModules modules(Kind first, Kind second) {
    AgentModules out(Company::others, clock_, random_);
    auto pools = std::make_unique<ToldModule>("pools", story_, first);
    pools_ = pools.get();
    out.add(std::move(pools));
    out.add(std::make_unique<ToldModule>("images", story_, second));
    return out;
  }

  AgentModules alone(Kind kind) {
    AgentModules out(Company::none, clock_, random_);
    auto pools = std::make_unique<ToldModule>("pools", story_, kind);
    pools_ = pools.get();
    out.add(std::move(pools));
    return out;
  }

  Outcome<void> start(AgentModules& all) {
    AgentModules::Process process{
        .loop = loop_.executor(),
        .give_up = [this](Failure failure) { fatal_ = std::move(failure); },
        .finish = [this] { finished_ = true; }};
    auto out = run_to_end(loop_, all.start(std::move(process)));
    loop_.run_ready();
    return out;
  }

  void pass(Nanos time) {
    clock_.advance(time);
    loop_.run_ready();
  }

  // The time until the next start, rounded up to a step.
  Nanos wait_for_start(Nanos step = 100ms) {
    story_.clear();
    Nanos out{0};
    while (std::ranges::find(story_, "pools starts") == story_.end() && out < 10min) {
      pass(step);
      out += step;
    }
    return out;
  }

  static std::string metric(std::string_view name, std::string_view module) {
    const std::string start = fmt::format("{}{{module=\"{}\"}} ", name, module);
    const std::string all = metrics::default_registry().expose();
    const auto at = all.find(start);
    if (at == all.npos) return {};
    return all.substr(at + start.size(), all.find('\n', at) - at - start.size());
  }

  Loop loop_;
  FakeClock clock_;
  SeededRandom random_{1};
  Story story_;
  ToldModule* pools_ = nullptr;
  Failure fatal_;
  bool finished_ = false;
};

TEST_F(ModulesOfAnAgent, start_in_order_and_stop_backwards) {
  AgentModules all = modules(Kind::works, Kind::works);
  ASSERT_TRUE(start(all));
  all.reload();
  run_to_end(loop_, all.stop());
  EXPECT_THAT(story_, ElementsAre("pools starts", "images starts", "pools rereads",
                                  "images rereads", "images stops", "pools stops"));
  EXPECT_EQ(all.not_ready(), "pools: not yet\nimages: not yet");
  EXPECT_EQ(to_json(all.state()), R"({"pools":true,"images":true})");
}

TEST_F(ModulesOfAnAgent, end_the_process_if_the_only_module_fails) {
  AgentModules unable = alone(Kind::fails);
  const auto started = start(unable);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().what, "there is no file");
  EXPECT_EQ(started.error().code, Plm::bad_pool_config);
  run_to_end(loop_, unable.stop());
  AgentModules wrong = alone(Kind::gives_up);
  ASSERT_TRUE(start(wrong));
  EXPECT_EQ(fatal_.what, "the file is wrong");
  pass(10min);
  run_to_end(loop_, wrong.stop());
  EXPECT_EQ(std::ranges::count(story_, "pools starts"), 2);  // each once
}

TEST_F(ModulesOfAnAgent, restart_only_the_module_that_failed) {
  for (const Kind kind : {Kind::fails, Kind::gives_up}) {
    story_.clear();
    AgentModules all = modules(kind, Kind::works);
    ASSERT_TRUE(start(all));
    const std::string why = kind == Kind::fails ? "there is no file" : "the file is wrong";
    EXPECT_EQ(all.not_ready(), "pools: down: " + why + "\nimages: not yet");
    EXPECT_EQ(metric("plimsoll_agent_module_up", "pools"), "0");
    EXPECT_EQ(metric("plimsoll_agent_module_up", "images"), "1");
    pass(900ms);
    EXPECT_THAT(story_, ElementsAre("pools starts", "images starts", "pools stops"));
    pools_->becomes(Kind::works);
    pass(400ms);
    EXPECT_THAT(story_,
                ElementsAre("pools starts", "images starts", "pools stops", "pools starts"));
    // The module is down until it reports that it is ready.
    EXPECT_EQ(all.not_ready(), "pools: down: " + why + "\nimages: not yet");
    pools_->is_ready = true;
    pass(1s);
    EXPECT_EQ(all.not_ready(), "images: not yet");
    EXPECT_EQ(metric("plimsoll_agent_module_up", "pools"), "1");
    run_to_end(loop_, all.stop());
    EXPECT_EQ(fatal_.what, "");
  }
}

TEST_F(ModulesOfAnAgent, wait_longer_each_time_until_a_module_runs_for_a_while) {
  AgentModules all = modules(Kind::fails, Kind::works);
  const std::string before = metric("plimsoll_agent_module_restarts_total", "pools");
  ASSERT_TRUE(start(all));
  Nanos base = 1s;
  for (int i = 0; i < 8; ++i) {
    const Nanos waited = wait_for_start();
    EXPECT_GE(waited, base) << i;
    EXPECT_LE(waited, base * 12 / 10 + 100ms) << i;
    base = std::min<Nanos>(base * 2, 30s);
  }
  EXPECT_EQ(std::stoi(metric("plimsoll_agent_module_restarts_total", "pools")),
            (before.empty() ? 0 : std::stoi(before)) + 8);
  pools_->becomes(Kind::works);
  wait_for_start();
  pass(59s);
  pools_->gives_up("gone");
  EXPECT_GE(wait_for_start(), Nanos(30s));
  pass(61s);
  pools_->gives_up("gone again");
  EXPECT_LE(wait_for_start(), Nanos(1300ms));
  run_to_end(loop_, all.stop());
}

TEST_F(ModulesOfAnAgent, start_immediately_on_a_reload_if_down) {
  AgentModules all = modules(Kind::fails, Kind::works);
  ASSERT_TRUE(start(all));
  story_.clear();
  all.reload();
  loop_.run_ready();
  EXPECT_THAT(story_,
              ElementsAre("pools rereads", "images rereads", "pools starts", "pools stops"));
  run_to_end(loop_, all.stop());
}

TEST_F(ModulesOfAnAgent, stop_while_a_module_waits_for_its_restart) {
  AgentModules all = modules(Kind::fails, Kind::works);
  ASSERT_TRUE(start(all));
  run_to_end(loop_, all.stop());
  story_.clear();
  pass(10min);
  EXPECT_THAT(story_, ElementsAre());
}

TEST_F(ModulesOfAnAgent, stay_off_if_they_must_not_run_here) {
  AgentModules all = modules(Kind::off, Kind::works);
  ASSERT_TRUE(start(all));
  all.reload();
  EXPECT_THAT(story_, ElementsAre("images starts", "images rereads"));
  EXPECT_EQ(all.not_ready(), "images: not yet");
  EXPECT_EQ(metric("plimsoll_agent_module_up", "pools"), "0");
  run_to_end(loop_, all.stop());
}

TEST_F(ModulesOfAnAgent, end_the_process_if_a_vital_module_fails) {
  AgentModules unable = modules(Kind::fails, Kind::works);
  pools_->vital = true;
  const auto started = start(unable);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().what, "there is no file");
  run_to_end(loop_, unable.stop());
  AgentModules wrong = modules(Kind::works, Kind::works);
  pools_->vital = true;
  ASSERT_TRUE(start(wrong));
  pools_->gives_up("gone");
  EXPECT_EQ(fatal_.what, "gone");
  story_.clear();
  pass(10min);
  EXPECT_THAT(story_, ElementsAre());  // not restarted
  run_to_end(loop_, wrong.stop());
}

TEST_F(ModulesOfAnAgent, end_the_process_when_a_module_has_done_its_work) {
  AgentModules all = modules(Kind::works, Kind::works);
  ASSERT_TRUE(start(all));
  EXPECT_FALSE(finished_);
  pools_->finishes();
  EXPECT_TRUE(finished_);
  run_to_end(loop_, all.stop());
  story_.clear();
  EXPECT_EQ(run_modules("test", alone(Kind::finishes), ""), 0);
  EXPECT_THAT(story_, ElementsAre("pools starts", "pools stops"));
}

TEST_F(ModulesOfAnAgent, show_measurements_before_the_registry_of_the_process) {
  AgentModules all = modules(Kind::works, Kind::works);
  EXPECT_EQ(all.metrics("a:1")->find("measured"), std::string::npos);
  EXPECT_FALSE(all.measures());
  pools_->does_measure();
  EXPECT_TRUE(all.measures());
  EXPECT_TRUE(all.metrics("a:1")->starts_with("measured at a:1\n"));
  EXPECT_NE(all.metrics("a:1")->find("plimsoll_agent_module_up{module=\"images\"}"),
            std::string::npos);
  AgentModules one = alone(Kind::works);
  pools_->does_measure();
  EXPECT_EQ(*one.metrics("a:1"), "measured at a:1\n");  // and no other metrics
}

TEST_F(ModulesOfAnAgent, end_the_process_if_the_only_module_gives_up) {
  const auto failed = run_modules("test", alone(Kind::gives_up), "");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "the file is wrong");
  EXPECT_THAT(story_, ElementsAre("pools starts", "pools stops"));
}

TEST(AgentListen, has_a_default_address) {
  EXPECT_EQ(agent_listen(""), "127.0.0.1:9101");
  EXPECT_EQ(agent_listen("10.0.0.1:1"), "10.0.0.1:1");
  EXPECT_EQ(agent_listen("none"), "");
}

}  // namespace
}  // namespace plim::roles
