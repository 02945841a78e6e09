#include "net/http.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace plim::net {
namespace {

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The unreserved characters of RFC 3986, which are never escaped.
bool is_unreserved(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string_view Headers::get(std::string_view name) const {
  for (const auto& [key, value] : list_)
    if (equals_ignoring_case(key, name)) return value;
  return {};
}

bool Headers::has(std::string_view name) const {
  return std::any_of(list_.begin(), list_.end(),
                     [&](const auto& header) { return equals_ignoring_case(header.first, name); });
}

bool Headers::has_token(std::string_view name, std::string_view token) const {
  for (const auto& [key, value] : list_) {
    if (!equals_ignoring_case(key, name)) continue;
    for (std::string_view item : split(value, ','))
      if (equals_ignoring_case(trim(item), token)) return true;
  }
  return false;
}

void Headers::add(std::string name, std::string value) {
  list_.emplace_back(std::move(name), std::move(value));
}

void Headers::set(std::string name, std::string value) {
  remove(name);
  add(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(list_,
                [&](const auto& header) { return equals_ignoring_case(header.first, name); });
}

std::string_view bearer_token(const Headers& headers) {
  constexpr std::string_view kScheme = "Bearer ";
  std::string_view value = headers.get("Authorization");
  if (value.size() < kScheme.size() ||
      !equals_ignoring_case(value.substr(0, kScheme.size()), kScheme))
    return {};
  return trim(value.substr(kScheme.size()));
}

std::string_view status_text(int status) {
  struct Row {
    int status;
    std::string_view text;
  };

  static constexpr std::array kRows{
      Row{100, "Continue"},
      Row{101, "Switching Protocols"},
      Row{200, "OK"},
      Row{201, "Created"},
      Row{202, "Accepted"},
      Row{204, "No Content"},
      Row{206, "Partial Content"},
      Row{301, "Moved Permanently"},
      Row{302, "Found"},
      Row{303, "See Other"},
      Row{304, "Not Modified"},
      Row{307, "Temporary Redirect"},
      Row{308, "Permanent Redirect"},
      Row{400, "Bad Request"},
      Row{401, "Unauthorized"},
      Row{403, "Forbidden"},
      Row{404, "Not Found"},
      Row{405, "Method Not Allowed"},
      Row{406, "Not Acceptable"},
      Row{408, "Request Timeout"},
      Row{409, "Conflict"},
      Row{410, "Gone"},
      Row{411, "Length Required"},
      Row{412, "Precondition Failed"},
      Row{413, "Payload Too Large"},
      Row{414, "URI Too Long"},
      Row{415, "Unsupported Media Type"},
      Row{416, "Range Not Satisfiable"},
      Row{417, "Expectation Failed"},
      Row{421, "Misdirected Request"},
      Row{422, "Unprocessable Entity"},
      Row{426, "Upgrade Required"},
      Row{429, "Too Many Requests"},
      Row{431, "Request Header Fields Too Large"},
      Row{500, "Internal Server Error"},
      Row{501, "Not Implemented"},
      Row{502, "Bad Gateway"},
      Row{503, "Service Unavailable"},
      Row{504, "Gateway Timeout"},
      Row{505, "HTTP Version Not Supported"},
  };
  auto row = std::lower_bound(kRows.begin(), kRows.end(), status,
                              [](const Row& r, int wanted) { return r.status < wanted; });
  return row != kRows.end() && row->status == status ? row->text : "Status";
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (is_unreserved(c)) {
      out += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      int high = hex_digit(text[i + 1]);
      int low = hex_digit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += plus_is_space && text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  for (std::string_view item : split(query, '&')) {
    if (item.empty()) continue;
    auto [name, value] = cut(item, '=');
    out.emplace_back(percent_decode(name, true), percent_decode(value, true));
  }
  return out;
}

std::string format_query(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out;
  for (const auto& [name, value] : pairs) {
    if (!out.empty()) out += '&';
    out += percent_encode(name);
    out += '=';
    out += percent_encode(value);
  }
  return out;
}

}  // namespace plim::net
