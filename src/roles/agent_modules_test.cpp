#include "roles/agent_modules.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim::roles {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Story = std::vector<std::string>;

// Writes down what happens to it.
class ToldModule final : public AgentModule {
 public:
  enum class Kind { works, off, fails, gives_up };

  ToldModule(std::string_view name, Story& story, Kind kind = Kind::works)
      : AgentModule(name, Plm::bad_pool_config), story_(story), kind_(kind) {}

  void becomes(Kind kind) { kind_ = kind; }

  void gives_up(std::string why) { on_fatal_(fail(Code::invalid, std::move(why))); }

  Result<void> start(const Executor&, std::function<void(Error)> on_fatal) override {
    note("starts");
    on_fatal_ = std::move(on_fatal);
    if (kind_ == Kind::fails) return fail(Code::invalid, "there is no file");
    if (kind_ == Kind::gives_up) gives_up("the file is wrong");
    return {};
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

  bool is_ready = false;

 private:
  void note(std::string_view what) {
    story_.push_back(std::string(name()) + " " + std::string(what));
  }

  Story& story_;
  Kind kind_;
  std::function<void(Error)> on_fatal_;
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
    out.add(std::make_unique<ToldModule>("pools", story_, kind));
    return out;
  }

  Outcome<void> start(AgentModules& all) {
    auto on_fatal = [this](Failure failure) { fatal_ = std::move(failure); };
    auto out = all.start(loop_.executor(), on_fatal);
    loop_.run_ready();
    return out;
  }

  void pass(Nanos time) {
    clock_.advance(time);
    loop_.run_ready();
  }

  // How long it takes until it is started once more, by a step's width.
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

TEST_F(ModulesOfAnAgent, end_with_the_failure_of_the_only_one) {
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

TEST_F(ModulesOfAnAgent, restart_only_the_one_that_failed) {
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
    // It is down until it has said that it is ready.
    EXPECT_EQ(all.not_ready(), "pools: down: " + why + "\nimages: not yet");
    pools_->is_ready = true;
    pass(1s);
    EXPECT_EQ(all.not_ready(), "images: not yet");
    EXPECT_EQ(metric("plimsoll_agent_module_up", "pools"), "1");
    run_to_end(loop_, all.stop());
    EXPECT_EQ(fatal_.what, "");
  }
}

TEST_F(ModulesOfAnAgent, wait_longer_each_time_until_one_ran_for_a_while) {
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

TEST_F(ModulesOfAnAgent, start_at_once_who_is_down_when_files_are_to_be_reread) {
  AgentModules all = modules(Kind::fails, Kind::works);
  ASSERT_TRUE(start(all));
  story_.clear();
  all.reload();
  loop_.run_ready();
  EXPECT_THAT(story_, ElementsAre("images rereads", "pools starts", "pools stops"));
  run_to_end(loop_, all.stop());
}

TEST_F(ModulesOfAnAgent, stop_while_one_waits_for_its_next_start) {
  AgentModules all = modules(Kind::fails, Kind::works);
  ASSERT_TRUE(start(all));
  run_to_end(loop_, all.stop());
  story_.clear();
  pass(10min);
  EXPECT_THAT(story_, ElementsAre());
}

TEST_F(ModulesOfAnAgent, leave_alone_who_must_not_run_here) {
  AgentModules all = modules(Kind::off, Kind::works);
  ASSERT_TRUE(start(all));
  all.reload();
  EXPECT_THAT(story_, ElementsAre("images starts", "images rereads"));
  EXPECT_EQ(all.not_ready(), "images: not yet");
  EXPECT_EQ(metric("plimsoll_agent_module_up", "pools"), "0");
  run_to_end(loop_, all.stop());
}

TEST_F(ModulesOfAnAgent, end_the_process_with_the_only_one_that_gives_up) {
  const auto failed = run_modules("test", alone(Kind::gives_up), "");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "the file is wrong");
  EXPECT_THAT(story_, ElementsAre("pools starts", "pools stops"));
}

TEST(AgentListen, is_the_usual_one_unless_it_is_said) {
  EXPECT_EQ(agent_listen(""), "127.0.0.1:9101");
  EXPECT_EQ(agent_listen("10.0.0.1:1"), "10.0.0.1:1");
  EXPECT_EQ(agent_listen("none"), "");
}

}  // namespace
}  // namespace plim::roles
