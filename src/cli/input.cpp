#include "cli/input.hpp"

#include <array>
#include <unistd.h>

#include "base/files.hpp"

namespace plim::cli {
namespace {

constexpr std::size_t kLargestInput = 64u << 20;

}  // namespace

Result<std::string> read_input(const std::string& name) {
  if (name != "-") return read_file(name, kLargestInput);
  std::string out;
  std::array<char, 65'536> buffer{};
  for (;;) {
    ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n == 0) return out;
    if (n < 0) return fail_errno(errno, "cannot read standard input");
    out.append(buffer.data(), static_cast<std::size_t>(n));
    if (out.size() > kLargestInput) return fail(Code::too_large, "standard input is too large");
  }
}

}  // namespace plim::cli
