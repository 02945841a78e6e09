#include "cli/agent_modules.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/loop.hpp"

namespace plim::cli {
namespace {

using ::testing::ElementsAre;
using Story = std::vector<std::string>;

// Writes down what happens to it.
class ToldModule final : public AgentModule {
 public:
  enum class Kind { works, off, fails, gives_up };

  ToldModule(std::string_view name, Story& story, Kind kind = Kind::works)
      : AgentModule(name, Plm::bad_pool_config), story_(story), kind_(kind) {}

  Result<void> start(const Executor&, std::function<void(Error)> on_fatal) override {
    note("starts");
    if (kind_ == Kind::fails) return fail(Code::invalid, "there is no file");
    if (kind_ == Kind::gives_up) on_fatal(fail(Code::invalid, "the file is wrong"));
    return {};
  }

  Task<void> stop() override {
    note("stops");
    co_return;
  }

  void reload() override { note("rereads"); }

  bool up() const override { return kind_ != Kind::off; }

  std::string not_ready() const override { return std::string(name()) + ": not yet"; }

  json::value state() const override { return json::object{{name(), up()}}; }

 private:
  void note(std::string_view what) {
    story_.push_back(std::string(name()) + " " + std::string(what));
  }

  Story& story_;
  Kind kind_;
};

class ModulesOfAnAgent : public ::testing::Test {
 protected:
  AgentModules modules(ToldModule::Kind first, ToldModule::Kind second,
                       bool is_one_of_many = true) {
    AgentModules out(is_one_of_many);
    out.add(std::make_unique<ToldModule>("pools", story_, first));
    out.add(std::make_unique<ToldModule>("images", story_, second));
    return out;
  }

  Outcome<void> start(AgentModules& all) {
    return all.start(loop_.executor(), [this](Failure failure) { fatal_ = std::move(failure); });
  }

  Loop loop_;
  Story story_;
  Failure fatal_;
};

TEST_F(ModulesOfAnAgent, start_in_order_and_stop_backwards) {
  AgentModules all = modules(ToldModule::Kind::works, ToldModule::Kind::works);
  ASSERT_TRUE(start(all));
  all.reload();
  run_to_end(loop_, all.stop());
  EXPECT_THAT(story_, ElementsAre("pools starts", "images starts", "pools rereads",
                                  "images rereads", "images stops", "pools stops"));
  EXPECT_EQ(all.not_ready(), "pools: not yet\nimages: not yet");
  EXPECT_EQ(to_json(all.state()), R"({"pools":true,"images":true})");
}

TEST_F(ModulesOfAnAgent, name_the_one_that_failed) {
  AgentModules all = modules(ToldModule::Kind::works, ToldModule::Kind::fails);
  const auto started = start(all);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().what, "module images: there is no file");
  EXPECT_EQ(started.error().code, Plm::bad_pool_config);
  AgentModules wrong = modules(ToldModule::Kind::gives_up, ToldModule::Kind::works);
  ASSERT_TRUE(start(wrong));
  EXPECT_EQ(fatal_.what, "module pools: the file is wrong");
  AgentModules alone = modules(ToldModule::Kind::fails, ToldModule::Kind::works, false);
  EXPECT_EQ(start(alone).error().what, "there is no file");
}

TEST_F(ModulesOfAnAgent, leave_alone_who_must_not_run_here) {
  AgentModules all = modules(ToldModule::Kind::off, ToldModule::Kind::works);
  ASSERT_TRUE(start(all));
  all.reload();
  EXPECT_THAT(story_, ElementsAre("images starts", "images rereads"));
  EXPECT_EQ(all.not_ready(), "images: not yet");
  EXPECT_THAT(all.up(), ElementsAre(std::pair("images", true), std::pair("pools", false)));
}

TEST_F(ModulesOfAnAgent, end_all_with_the_first_that_gives_up) {
  const auto failed =
      run_modules("test", modules(ToldModule::Kind::works, ToldModule::Kind::gives_up), "");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().what, "module images: the file is wrong");
  EXPECT_THAT(story_, ElementsAre("pools starts", "images starts", "images stops", "pools stops"));
}

TEST(AgentListen, is_the_usual_one_unless_it_is_said) {
  EXPECT_EQ(agent_listen(""), "127.0.0.1:9101");
  EXPECT_EQ(agent_listen("10.0.0.1:1"), "10.0.0.1:1");
  EXPECT_EQ(agent_listen("none"), "");
}

}  // namespace
}  // namespace plim::cli
