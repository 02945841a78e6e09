#include "flow/memory.hpp"

#include <unistd.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace plim::flow {

std::uint64_t resident_bytes() {
  auto text = read_file("/proc/self/statm");
  if (!text) return 0;
  auto fields = split(*text, ' ');
  if (fields.size() < 2) return 0;
  auto pages = parse_int<std::uint64_t>(fields[1]);
  return pages ? *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace plim::flow
