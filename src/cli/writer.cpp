#include "cli/writer.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace plim::cli {

Outcome<void> Writer::write(std::string_view text) {
  if (sink_ != nullptr) {
    sink_->append(text);
    return {};
  }
  while (!text.empty()) {
    ssize_t n = ::write(fd_, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EPIPE) {
      return tl::unexpected(Failure{.exit = 0, .what = {}, .shape = Failure::Shape::silent});
    } else if (errno != EINTR) {
      auto failure = file_failure(Plm::cannot_write, fail_errno(errno, "cannot write the output"));
      failure.exit = 1;
      return tl::unexpected(std::move(failure));
    }
  }
  return {};
}

Terminal terminal_of(int fd) {
  return {.is_terminal = is_terminal(fd),
          .color = use_color(fd),
          .width = terminal_width(fd).value_or(0)};
}

std::string painted(std::string_view text, Color color, const Terminal& terminal) {
  return terminal.color ? paint(text, color) : std::string(text);
}

std::string wrap(std::string_view label, std::string_view text, int width) {
  constexpr std::size_t kNarrowest = 20;
  std::size_t room = text.size();
  if (width > 0) {
    std::size_t columns = static_cast<std::size_t>(width);
    room = std::max(kNarrowest, columns - std::min(label.size(), columns));
  }
  std::string out, start(label);
  while (text.size() > room) {
    std::size_t cut = text.rfind(' ', room);
    if (cut == text.npos) cut = std::min(text.find(' '), text.size());
    out += fmt::format("{}{}\n", start, text.substr(0, cut));
    text.remove_prefix(std::min(text.size(), cut + 1));
    start.assign(label.size(), ' ');
  }
  if (!text.empty()) out += fmt::format("{}{}\n", start, text);
  return out;
}

void guard_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) != -1) continue;
    // open() returns the lowest free descriptor, which is this one.
    [[maybe_unused]] int taken = ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace plim::cli
