#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "net/client.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto line = text.find('\n');
  std::string_view list = text.substr(0, line);
  std::string_view host = line == text.npos ? "" : text.substr(line + 1);
  plim::net::no_proxy_matches(list, host, 443);
  if (!plim::net::no_proxy_matches(std::string(list) + ",*", host, 443)) std::abort();
  return 0;
}
