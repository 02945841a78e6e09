#include "base/terminal.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <pty.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/progress.hpp"

namespace plim {
namespace {

using namespace std::chrono_literals;

// A real terminal: the test can read what is written to `screen`.
class Pty {
 public:
  explicit Pty(unsigned short columns) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    int master = -1, slave = -1;
    EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
    master_.reset(master);
    screen_.reset(slave);
  }

  int screen() const { return screen_.get(); }

  // The bytes since the last call. The kernel moves them asynchronously: a marker shows the end.
  std::string written() {
    constexpr char kMark = '\a';
    EXPECT_EQ(::write(screen_.get(), &kMark, 1), 1);
    std::string out;
    for (char c = 0; ::read(master_.get(), &c, 1) == 1 && c != kMark;) out += c;
    return out;
  }

 private:
  Fd master_, screen_;
};

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
  }

  Pty pty_{100};
};

using UseColor = Environment;

TEST_F(UseColor, follows_the_terminal) {
  Fd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(use_color(pty_.screen()));
  EXPECT_FALSE(use_color(file.get()));
  EXPECT_TRUE(use_color(file.get(), ColorMode::always));
  EXPECT_FALSE(use_color(pty_.screen(), ColorMode::never));
}

TEST_F(UseColor, follows_the_environment) {
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(use_color(pty_.screen()));
  ::setenv("CLICOLOR_FORCE", "1", 1);
  EXPECT_TRUE(use_color(pty_.screen()));
  EXPECT_TRUE(use_color(-1));
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(use_color(pty_.screen()));
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(use_color(pty_.screen()));
}

TEST(Terminal, knows_its_width_and_a_pipe_has_none) {
  Pty pty(100);
  EXPECT_EQ(terminal_width(pty.screen()), 100);
  Fd file(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(terminal_width(file.get()), std::nullopt);
}

TEST(Terminal, paints) {
  EXPECT_EQ(paint("x", Color::none), "x");
  EXPECT_EQ(paint("x", Color::red), "\x1b[31mx\x1b[0m");
}

TEST(Progress, waits_then_draws_in_place_and_wipes_the_line) {
  Pty pty(60);
  FakeClock clock;
  Progress progress({.label = "loading", .total = 200, .fd = pty.screen()}, clock);
  progress.update(10);
  EXPECT_EQ(pty.written(), "");
  clock.advance(1s);
  progress.update(50);
  EXPECT_EQ(pty.written(),
            "\rloading [" + std::string(9, '=') + std::string(28, ' ') + "]  25% ETA 3s\x1b[K");
  clock.advance(50ms);
  progress.update(60);
  EXPECT_EQ(pty.written(), "") << "too soon";
  clock.advance(950ms);
  progress.update(300);
  EXPECT_EQ(pty.written(), "\rloading [" + std::string(37, '=') + "] 100% ETA 0s\x1b[K");
  progress.finish();
  EXPECT_EQ(pty.written(), "\r\x1b[K");
  clock.advance(1s);
  progress.update(200);
  EXPECT_EQ(pty.written(), "");
}

TEST(Progress, the_destructor_wipes_and_an_undrawn_line_leaves_no_trace) {
  Pty pty(60);
  FakeClock clock;
  {
    Progress quick({.label = "quick", .total = 1, .fd = pty.screen()}, clock);
    quick.update(1);
  }
  EXPECT_EQ(pty.written(), "");
  {
    Progress slow({.label = "slow", .fd = pty.screen()}, clock);
    clock.advance(1s);
    slow.update(7);
    EXPECT_EQ(pty.written(), "\rslow 7\x1b[K");
  }
  EXPECT_EQ(pty.written(), "\r\x1b[K");
}

TEST(Progress, never_wraps) {
  Pty pty(12);
  FakeClock clock;
  Progress progress({.label = "a long label", .total = 100, .fd = pty.screen()}, clock);
  clock.advance(1s);
  progress.update(1);
  EXPECT_EQ(pty.written(), "\ra long labe\x1b[K");
}

TEST(Progress, is_silent_without_a_terminal) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Fd from(ends[0]), to(ends[1]);
  FakeClock clock;
  {
    Progress progress({.label = "x", .total = 1, .fd = to.get()}, clock);
    clock.advance(1s);
    progress.update(1);
  }
  to.reset();
  char byte = 0;
  EXPECT_EQ(::read(from.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace plim
