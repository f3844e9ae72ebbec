// The mark of Shoal, as in public/favicon.svg, in the colours of the theme.

/** The mark. It is beside the name, which says the same. */
export function Mark({ className }: { className: string }) {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className={className}>
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g className="fill-accent-ink">
        <path d="M6 11c4-4 9-4 12 0-3 4-8 4-12 0zm12 0 4-3v6z" />
        <path d="M12 20c3-3 7-3 10 0-3 3-7 3-10 0zm10 0 4-3v6z" opacity=".8" />
      </g>
    </svg>
  );
}
