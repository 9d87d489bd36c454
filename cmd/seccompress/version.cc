// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include <elf.h>
#include <fmt/core.h>
#include <link.h>
#include <seccomp.h>

#include <cstring>

namespace seccompress::cmd {
namespace {

// Notes are (namesz, descsz, type, name, desc), name and desc padded to 4 bytes (elf(5)).
std::string build_id_in(const char* notes, std::size_t size) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const std::size_t body = padded(header.n_namesz) + padded(header.n_descsz);
    if (body > size - sizeof header) return {};
    const char* name = notes + sizeof header;
    const auto* bytes = reinterpret_cast<const unsigned char*>(name) + padded(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string hex;
      for (std::size_t i = 0; i < header.n_descsz; ++i) hex += fmt::format("{:02x}", bytes[i]);
      return hex;
    }
    notes += sizeof header + body;
    size -= sizeof header + body;
  }
  return {};
}

// The main program is the first object that dl_iterate_phdr shows.
int take_build_id(dl_phdr_info* object, std::size_t, void* result) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    std::string& id = *static_cast<std::string*>(result);
    if (id.empty()) id = build_id_in(notes, segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::string version() { return SECCOMPRESS_VERSION; }

std::string build_id() {
  std::string id;
  ::dl_iterate_phdr(take_build_id, &id);
  return id;
}

std::string libseccomp_version() {
  const scmp_version* v = ::seccomp_version();
  return v == nullptr ? "" : fmt::format("{}.{}.{}", v->major, v->minor, v->micro);
}

std::string version_text() {
  return fmt::format("seccompress {}\nbuild id {}\nlibseccomp {}\n", version(), build_id(), libseccomp_version());
}

}  // namespace seccompress::cmd
