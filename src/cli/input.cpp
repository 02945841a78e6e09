#include "cli/input.hpp"

#include <array>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files.hpp"

namespace plim::cli {
namespace {

Error too_large_input(std::string_view what, std::size_t limit) {
  return {Code::too_large, fmt::format("{} is larger than {} MiB", what, limit >> 20)};
}

}  // namespace

Result<std::string> read_input(const std::string& name, std::size_t limit) {
  if (name != "-") {
    auto out = read_file(name, limit);
    if (!out && out.error().code == Code::too_large) return too_large_input(name, limit);
    return out;
  }
  std::string out;
  std::array<char, 65'536> buffer{};
  for (;;) {
    ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n == 0) return out;
    if (n < 0) return fail_errno(errno, "cannot read standard input");
    out.append(buffer.data(), static_cast<std::size_t>(n));
    if (out.size() > limit) return too_large_input("standard input", limit);
  }
}

}  // namespace plim::cli
