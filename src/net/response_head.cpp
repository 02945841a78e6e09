#include "net/response_head.hpp"

#include <ctime>

#include <fmt/format.h>

#include "base/text.hpp"
#include "net/request_head.hpp"

namespace plim::net {
namespace {

bool is_connection_matter(std::string_view name) {
  return equals_ignoring_case(name, "Content-Length") ||
         equals_ignoring_case(name, "Transfer-Encoding") || equals_ignoring_case(name, "Date");
}

}  // namespace

std::string_view http_date(WallTime now) {
  // Not strftime, which depends on the locale.
  thread_local std::time_t made_at = 0;
  thread_local std::string text;
  const std::time_t second =
      std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (second != made_at || text.empty()) {
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    std::tm utc{};
    gmtime_r(&second, &utc);
    text =
        fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[utc.tm_wday], utc.tm_mday,
                    kMonths[utc.tm_mon], utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
    made_at = second;
  }
  return text;
}

bool is_authors_header(std::string_view name, std::string_view value) {
  // A value with a line break would let its author inject headers.
  return !is_connection_matter(name) && is_token(name) && is_field_value(value);
}

std::string format_response_head(int status, const Headers& headers, const ResponseFrame& frame) {
  std::string out;
  out.reserve(256);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: {}\r\n", status,
                 status_text(status), http_date(frame.now));
  for (const auto& [name, value] : headers) {
    if (!is_authors_header(name, value)) continue;
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (frame.framing == Framing::length)
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", frame.length);
  if (frame.framing == Framing::chunked) out += "Transfer-Encoding: chunked\r\n";
  if (!frame.keep_alive && status != 101) out += "Connection: close\r\n";
  if (frame.keep_alive && frame.http10) out += "Connection: keep-alive\r\n";
  out += "\r\n";
  return out;
}

bool accepts_gzip(std::string_view accept) {
  for (std::string_view item : split(accept, ',')) {
    std::string_view coding = trim(cut(item, ';').first);
    if (!equals_ignoring_case(coding, "gzip") && coding != "*") continue;
    auto quality = item.find("q=");
    bool refused = quality != item.npos && item.find_first_of("123456789", quality) == item.npos;
    return !refused;
  }
  return false;
}

}  // namespace plim::net
