// SPDX-License-Identifier: Apache-2.0
// Input: a stack and the kernel's numbers. Output: its cache bits, and the report's text. Entries: predict_cache,
// cache_report, cache_kernel.
#include "program/cache_report.h"

#include <algorithm>
#include <array>

#include "abi/arch.h"

namespace seccompress::program {
namespace {

struct Release {
  unsigned major, minor;
  std::uint32_t numbers;
};
// The first release with this many calls. 5.11 brought the cache and epoll_pwait2 (441).
constexpr std::array kReleases = {
    Release{5, 11, 442}, Release{5, 12, 443}, Release{5, 13, 447}, Release{5, 14, 448}, Release{5, 15, 449},
    Release{5, 16, 450}, Release{5, 17, 451}, Release{6, 5, 452},  Release{6, 6, 454},  Release{6, 7, 457},
    Release{6, 8, 462},  Release{6, 10, 463}, Release{6, 13, 467}, Release{6, 15, 468}, Release{6, 17, 470},
};

constexpr std::uint32_t kUretprobe = 335, kUprobe = 336;

}  // namespace

CacheKernel cache_kernel(unsigned major, unsigned minor) {
  const auto at_least = [&](unsigned wanted_major, unsigned wanted_minor) {
    return std::pair(major, minor) >= std::pair(wanted_major, wanted_minor);
  };
  CacheKernel kernel;
  for (const Release& release : kReleases)
    if (at_least(release.major, release.minor)) kernel.numbers = release.numbers;
  if (at_least(6, 11)) kernel.exempt.push_back(kUretprobe);
  if (at_least(6, 18)) kernel.exempt.push_back(kUprobe);
  return kernel;
}

std::size_t CachedArch::count() const {
  return static_cast<std::size_t>(std::count(allowed.begin(), allowed.end(), true));
}

std::vector<CachedArch> predict_cache(std::span<const Code> filters, const CacheKernel& kernel) {
  std::vector<CachedArch> arches{{"x86_64", abi::facts(abi::Arch::x86_64).audit, {}},
                                 {"ia32", abi::facts(abi::Arch::x86).audit, {}}};
  for (CachedArch& arch : arches)
    for (std::uint32_t nr = 0; nr < kernel.numbers; ++nr)
      arch.allowed.push_back(std::all_of(filters.begin(), filters.end(),
                                         [&](const Code& code) { return is_constant_allow(code, arch.audit, nr); }));
  for (const std::uint32_t nr : kernel.exempt)
    if (nr < kernel.numbers) arches[0].allowed[nr] = true;
  return arches;
}

std::string cache_report(std::span<const CachedArch> arches) {
  std::string text;
  for (const CachedArch& arch : arches)
    for (std::size_t nr = 0; nr < arch.allowed.size(); ++nr)
      text += arch.name + ' ' + std::to_string(nr) + (arch.allowed[nr] ? " ALLOW\n" : " FILTER\n");
  return text;
}

}  // namespace seccompress::program
