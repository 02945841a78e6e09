// data_generator: makes records of fictional visitors. A slice that runs again gives the same
// records.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/rfc3339.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

constexpr std::uint64_t kUsualSlice = 5000;

// For this option a number without a unit is seconds, unlike everywhere else.
Result<std::chrono::milliseconds> delay_of(const json::object& options) {
  const json::value* value = options.if_contains("delay");
  if (value == nullptr) return std::chrono::milliseconds(0);
  PLIM_TRY(std::chrono::milliseconds time, parse_human_duration(*value));
  return value->is_string() ? time : time * 1000;
}

// Parses a date with or without a time of day.
Result<WallTime> parse_date(std::string_view text) {
  constexpr std::size_t kDate = 10;
  return parse_rfc3339(text.size() == kDate ? fmt::format("{}T00:00:00Z", text)
                                            : std::string(text));
}

class GeneratorSlicer final : public Slicer {
 public:
  GeneratorSlicer(const ReaderSetup& setup, std::uint64_t slice)
      : persistent_(setup.persistent), slice_(slice) {
    const auto total = static_cast<std::uint64_t>(int_option(setup.options, "size"));
    if (persistent_) slice_ = total;
    begin_ = share(total, setup.index, setup.count);
    end_ = share(total, setup.index + 1, setup.count);
    at_ = begin_;
  }

  Result<std::optional<json::object>> next() override {
    if (!persistent_ && at_ >= end_) return std::optional<json::object>();
    std::uint64_t count = persistent_ ? slice_ : std::min(slice_, end_ - at_);
    json::object request{{"count", count}, {"processed", at_}};
    at_ += count;
    return std::optional(std::move(request));
  }

  json::value cursor() const override { return at_; }

  Result<void> restore(const json::value& cursor) override {
    auto at = cursor.is_number() ? cursor.to_number<std::uint64_t>() : begin_;
    at_ = std::max(at, begin_);
    return {};
  }

  std::optional<std::uint64_t> total_slices() const override {
    if (persistent_) return std::nullopt;
    return (end_ - begin_ + slice_ - 1) / slice_;
  }

 private:
  // The start of the part of slicer `index`.
  static std::uint64_t share(std::uint64_t total, unsigned index, unsigned count) {
    return total / count * index + std::min<std::uint64_t>(index, total % count);
  }

  bool persistent_;
  std::uint64_t slice_;
  std::uint64_t begin_ = 0, end_ = 0, at_ = 0;
};

// SplitMix64, with its own stream for every slice.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t below(std::uint64_t limit) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * limit) >> 64);
  }

 private:
  std::uint64_t state_;
};

constexpr std::array<std::string_view, 6> kAgents{
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/17.5 Safari/605.1.15",
    "Opera/9.80 (X11; Linux x86_64; U; en) Presto/2.12.388 Version/12.16",
    "curl/8.5.0",
    "Wget/1.21.4"};
constexpr std::array<std::string_view, 8> kHosts{"anchor", "bilge",   "capstan", "davit",
                                                 "galley", "halyard", "keel",    "rudder"};
constexpr std::array<std::string_view, 4> kZones{"com", "net", "org", "info"};
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kUpperHex = "0123456789ABCDEF";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// Writes to memory that the caller has made large enough.
class Pen {
 public:
  explicit Pen(char* to) : begin_(to), at_(to) {}

  Pen& text(std::string_view bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
    return *this;
  }

  Pen& number(std::uint64_t value) {
    at_ = std::to_chars(at_, at_ + 20, value).ptr;
    return *this;
  }

  Pen& letters(Dice& dice, std::string_view alphabet, unsigned count) {
    for (unsigned i = 0; i < count; ++i) *at_++ = alphabet[dice.below(alphabet.size())];
    return *this;
  }

  Pen& hex(std::uint64_t bits, unsigned digits) {
    for (unsigned i = digits; i > 0; --i) *at_++ = kHex[(bits >> (4 * (i - 1))) & 15];
    return *this;
  }

  // About -90 to 90, with five digits after the point.
  Pen& degrees(Dice& dice, std::uint64_t most) {
    if (dice.next() & 1) *at_++ = '-';
    std::uint64_t value = dice.below(most * 100'000);
    number(value / 100'000);
    *at_++ = '.';
    std::uint64_t fraction = value % 100'000 + 100'000;
    char digits[8];
    std::to_chars(digits, digits + 8, fraction);
    return text({digits + 1, 5});
  }

  std::string_view written() const { return {begin_, static_cast<std::size_t>(at_ - begin_)}; }

 private:
  char* begin_;
  char* at_;
};

class Generator final : public Fetcher {
 public:
  explicit Generator(const json::object& options)
      : small_(text_option(options, "shape") == "small"),
        date_key_(to_json(json::value(text_option(options, "date_key")))),
        id_prefix_(text_option(options, "id_start_key")),
        delay_(delay_of(options).value_or(std::chrono::milliseconds(0))) {
    std::string_view set_id = text_option(options, "set_id");
    if (set_id == "base64url") alphabet_ = kBase64Url;
    if (set_id == "hexadecimal") alphabet_ = kHex;
    if (set_id == "HEXADECIMAL") alphabet_ = kUpperHex;
    if (!text_option(options, "format").ends_with("Between")) return;
    auto start = parse_date(text_option(options, "start"));
    auto end = parse_date(text_option(options, "end"));
    if (start) start_ = *start;
    if (end) end_ = *end;
  }

  Result<void> fetch(const json::value& request, SliceContext& context, Batch& out) override {
    const auto count = static_cast<std::uint64_t>(int_at(request, {"count"}).value_or(0));
    const auto first = static_cast<std::uint64_t>(int_at(request, {"processed"}).value_or(0));
    PLIM_CHECK(context.wait(delay_));
    out.records.reserve(out.records.size() + count);
    if (small_) {
      for (std::uint64_t i = 0; i < count; ++i) add_small(first + i, out);
      return {};
    }
    Dice dice(std::hash<std::string>{}(context.ex_id) ^ first);
    for (std::uint64_t i = 0; i < count; ++i) add_full(dice, context, out);
    return {};
  }

 private:
  void add_small(std::uint64_t id, Batch& out) const {
    Pen pen(out.arena.reserve(64));
    pen.text(R"({"id":)").number(id).text(R"(,"value":)").number(id * 7 % 1000).text("}");
    out.arena.keep(pen.written().size());
    out.records.push_back(pen.written());
  }

  void add_full(Dice& dice, const SliceContext& context, Batch& out) const {
    Pen pen(out.arena.reserve(1024 + date_key_.size() + id_prefix_.size()));
    pen.text(R"({"ip":")");
    for (int i = 0; i < 4; ++i) pen.text(i > 0 ? "." : "").number(dice.below(256));
    pen.text(R"(","userAgent":")").text(kAgents[dice.below(kAgents.size())]);
    pen.text(R"(","url":"https://)").text(kHosts[dice.below(kHosts.size())]).text(".");
    pen.text(kZones[dice.below(kZones.size())]).text(R"(","uuid":")");
    std::uint64_t a = dice.next(), b = dice.next();
    pen.hex(a >> 32, 8).text("-").hex(a >> 16, 4).text("-4").hex(a, 3).text("-");
    pen.hex(8 | (b >> 62), 1).hex(b >> 48, 3).text("-").hex(b, 12).text(R"(",)");
    pen.text(date_key_).text(":\"").text(date(dice, context)).text(R"(","ipv6":")");
    for (int i = 0; i < 8; ++i) pen.text(i > 0 ? ":" : "").hex(dice.next(), 4);
    pen.text(R"(","location":")").degrees(dice, 90).text(", ").degrees(dice, 180);
    pen.text(R"(","bytes":)").number(7850 + dice.below(5642867 - 7850 + 1));
    if (!alphabet_.empty())
      pen.text(R"(,"id":")").text(id_prefix_).letters(dice, alphabet_, 20).text("\"");
    pen.text("}");
    out.arena.keep(pen.written().size());
    out.records.push_back(pen.written());
  }

  // Uses the time of the slice and not the clock, so that a slice that runs again gives the same
  // date.
  std::string date(Dice& dice, const SliceContext& context) const {
    if (!start_) return millis(context.created);
    const Nanos width = std::max(end_.value_or(context.created) - *start_, Nanos(0));
    const std::uint64_t step = dice.below(static_cast<std::uint64_t>(width.count()) + 1);
    return millis(*start_ + Nanos(static_cast<std::int64_t>(step)));
  }

  static std::string millis(WallTime time) {
    auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()) %
                std::chrono::seconds(1);
    std::string text = format_rfc3339(time);
    text.pop_back();
    return fmt::format("{}.{:03}Z", text, rest.count());
  }

  bool small_;
  std::string date_key_;
  std::string id_prefix_;
  std::chrono::milliseconds delay_;
  std::string_view alphabet_;
  std::optional<WallTime> start_, end_;  // if start is set, dates are random between the two
};

}  // namespace

Result<std::unique_ptr<Slicer>> make_generator_slicer(const ReaderSetup& setup) {
  auto slice = static_cast<std::uint64_t>(int_option(setup.options, "slice_size"));
  if (slice == 0) slice = static_cast<std::uint64_t>(int_option(setup.last_operation, "size"));
  return std::make_unique<GeneratorSlicer>(setup, slice == 0 ? kUsualSlice : slice);
}

Result<std::unique_ptr<Fetcher>> make_generator(const json::object& options) {
  return std::make_unique<Generator>(options);
}

void check_generator(const json::object& options, std::string_view path, Problems& problems) {
  auto delay = delay_of(options);
  if (!delay)
    problems.errors.push_back(fmt::format(
        "{}.delay: must be a number of seconds or human readable string, such as \"500 ms\"",
        path));
  else if (delay->count() > 0 && bool_option(options, "stress_test"))
    problems.errors.push_back(fmt::format("{}.delay: cannot be used with stress_test", path));
  if (!text_option(options, "format").ends_with("Between")) return;
  std::string_view end_text = text_option(options, "end");
  auto start = parse_date(text_option(options, "start"));
  auto end = parse_date(end_text);
  for (std::string_view name : {"start", "end"})
    if ((name == "start" ? !start : !end && !end_text.empty()))
      problems.errors.push_back(fmt::format(
          "{}.{}: must be a date, such as 2024-01-02 or 2024-01-02T03:04:05Z", path, name));
  if (start && end && *end < *start)
    problems.errors.push_back(fmt::format("{}.end: is before start", path));
}

}  // namespace plim::flow
