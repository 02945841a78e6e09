// file_reader, second half: turns a range of bytes into the records that begin in it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

#include <fmt/format.h>

#include "base/fd.hpp"
#include "base/json_text.hpp"
#include "flow/csv.hpp"
#include "flow/gzip_file.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

constexpr std::size_t kUnpackedLimit = std::size_t{1} << 30;
constexpr std::size_t kLongestRecord = std::size_t{256} << 20;
constexpr std::size_t kLongestHeader = std::size_t{1} << 20;
constexpr std::size_t kTail = std::size_t{64} << 10;

// Skips the byte order mark that some programs write before UTF-8.
void skip_mark(std::string_view& text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
}

class InputRange {
 public:
  static Result<InputRange> open(const std::string& path) {
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail_errno(errno, fmt::format("cannot open {}", path));
    return InputRange(std::move(fd), path);
  }

  // Reads fewer bytes only at the end of the file.
  Result<std::size_t> read(std::uint64_t offset, char* to, std::size_t size) const {
    std::size_t done = 0;
    while (done < size) {
      ssize_t n = ::pread(fd_.get(), to + done, size - done, static_cast<off_t>(offset + done));
      if (n == 0) break;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno(errno, fmt::format("cannot read {}", path_));
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

 private:
  InputRange(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Fd fd_;
  std::string path_;
};

struct Range {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class FileFetcher final : public Fetcher {
 public:
  explicit FileFetcher(const json::object& options)
      : format_(text_option(options, "format")),
        delimiter_(text_option(options, "line_delimiter")),
        fields_(texts_option(options, "fields")),
        gzip_(text_option(options, "compression") == "gzip"),
        remove_header_(bool_option(options, "remove_header")),
        ignore_empty_(bool_option(options, "ignore_empty")) {
    std::string_view separator = text_option(options, "field_delimiter");
    separator_ = separator.empty() ? (format_ == "tsv" ? '\t' : ',') : separator[0];
  }

  Result<void> fetch(const json::value& request, SliceContext&, Batch& out) override {
    Range range{.path = std::string(text_at(request, {"path"})),
                .offset = static_cast<std::uint64_t>(int_at(request, {"offset"}).value_or(0)),
                .length = static_cast<std::uint64_t>(int_at(request, {"length"}).value_or(0))};
    PLIM_TRY(InputRange file, InputRange::open(range.path));
    PLIM_TRY(std::string_view text,
             gzip_ ? unpacked(file, range, out) : lines_of(file, range, out));
    if (range.offset == 0 && format_ != "raw") skip_mark(text);
    if (format_ == "json") return read_array(text, range, out);
    if (format_ == "csv" || format_ == "tsv") return columns(file, range, text, out);
    split(text, out);
    return {};
  }

 private:
  Result<std::string_view> unpacked(const InputRange& file, const Range& range, Batch& out) const {
    std::string packed(range.length, '\0');
    PLIM_TRY(std::size_t got, file.read(0, packed.data(), packed.size()));
    packed.resize(got);
    auto text = gunzip_into(out.arena, packed, kUnpackedLimit);
    if (!text) return text.error().with_context(range.path);
    return text;
  }

  // The text from the first record that begins after the offset (at the offset for the first slice)
  // to the end of the last record that begins in the range, wherever that ends.
  Result<std::string_view> lines_of(const InputRange& file, const Range& range, Batch& out) const {
    // Room for the rest of a typical line, so that the text is not moved.
    std::size_t room = range.length + kTail;
    char* bytes = out.arena.reserve(room);
    PLIM_TRY(std::size_t size, file.read(range.offset, bytes, range.length));
    std::string_view text(bytes, size);
    if (range.offset > 0) {
      std::size_t first = text.find(delimiter_);
      if (first == text.npos) return std::string_view();
      text.remove_prefix(first + delimiter_.size());
      // No record begins here, not even at the last byte.
      if (text.empty()) return text;
    }
    const std::size_t skipped = size - text.size();
    std::size_t searched = size;
    while (size >= range.length && !(size == searched && text.ends_with(delimiter_))) {
      if (size + kTail > room) {
        if (size > range.length + kLongestRecord)
          return fail(Code::too_large, fmt::format("a record of {} is longer than {} bytes",
                                                   range.path, kLongestRecord));
        room = size * 2 + kTail;
        char* larger = out.arena.reserve(room);
        if (larger != bytes) std::memcpy(larger, bytes, size);
        bytes = larger;
      }
      PLIM_TRY(std::size_t more, file.read(range.offset + size, bytes + size, kTail));
      if (more == 0) break;
      std::string_view all(bytes, size + more);
      std::size_t from = size < delimiter_.size() ? 0 : size - delimiter_.size() + 1;
      std::size_t end = all.find(delimiter_, std::max(from, skipped));
      size += more;
      if (end != all.npos) {
        size = end + delimiter_.size();
        break;
      }
    }
    out.arena.keep(size);
    return std::string_view(bytes + skipped, size - skipped);
  }

  void split(std::string_view text, Batch& out) const {
    while (!text.empty()) {
      std::size_t end = delimiter_.size() == 1 ? text.find(delimiter_[0]) : text.find(delimiter_);
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + delimiter_.size());
      if (line.ends_with('\r') && delimiter_ == "\n") line.remove_suffix(1);
      if (!line.empty()) out.records.push_back(line);
    }
  }

  // Reads a file that is one array. Any other JSON value is one record.
  Result<void> read_array(std::string_view text, const Range& range, Batch& out) const {
    PLIM_TRY(json::value value, parse_json(text, range.path));
    if (!value.is_array()) {
      out.records.push_back(out.arena.copy(to_json(value)));
      return {};
    }
    for (const json::value& one : value.as_array())
      out.records.push_back(out.arena.copy(to_json(one)));
    return {};
  }

  // The header is always the first line, even if it is empty: every slice must find the same one.
  Result<void> columns(const InputRange& file, const Range& range, std::string_view text,
                       Batch& out) {
    std::string_view header;
    if (range.offset == 0 && remove_header_) {
      std::size_t end = text.find(delimiter_);
      header = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + delimiter_.size());
    }
    PLIM_TRY(CsvReader * reader, reader_for(file, range, header));
    split(text, out);
    for (Record& record : out.records) record = reader->to_json(record, out.arena);
    return {};
  }

  // The names come from the job, else from the first line of the file, which is in another slice.
  Result<CsvReader*> reader_for(const InputRange& file, const Range& range,
                                std::string_view header) {
    std::string key = fields_.empty() ? range.path : "";
    if (auto known = readers_.find(key); known != readers_.end()) return &known->second;
    std::vector<std::string> names = fields_;
    if (names.empty() && remove_header_) {
      std::string line(header.substr(0, kLongestHeader));
      if (range.offset > 0) {
        PLIM_TRY(line, first_line(file));
      }
      if (line.ends_with('\r')) line.pop_back();
      split_csv(line, separator_, names);
    }
    if (readers_.size() > 1000) readers_.clear();
    auto made = readers_.emplace(key, CsvReader(std::move(names), separator_, ignore_empty_));
    return &made.first->second;
  }

  Result<std::string> first_line(const InputRange& file) const {
    std::string text(kLongestHeader + delimiter_.size(), '\0');
    PLIM_TRY(std::size_t got, file.read(0, text.data(), text.size()));
    std::string_view line = std::string_view(text).substr(0, got);
    skip_mark(line);
    return std::string(line.substr(0, std::min(line.find(delimiter_), kLongestHeader)));
  }

  std::string format_;
  std::string delimiter_;
  std::vector<std::string> fields_;
  bool gzip_;
  bool remove_header_;
  bool ignore_empty_;
  char separator_ = ',';
  std::map<std::string, CsvReader> readers_;  // by file
};

}  // namespace

Result<std::unique_ptr<Fetcher>> make_file_fetcher(const json::object& options) {
  return std::make_unique<FileFetcher>(options);
}

}  // namespace plim::flow
